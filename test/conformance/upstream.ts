/**
 * The upstream of the conformance suite's server scenarios, with the tools, prompts and resources that they name. Run
 * as a program it speaks 2025-11-25 over standard input and output.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import {
  type CallToolResult,
  completable,
  createRequestStateCodec,
  type ElicitRequestFormParams,
  type InputRequests,
  inputRequired,
  type InputRequiredResult,
  McpServer,
  ResourceNotFoundError,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

/** One red pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
/** A header of a sound without samples. */
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

const states = createRequestStateCodec<{ readonly step: number }>({ key: randomBytes(32) });

type Answer = CallToolResult | InputRequiredResult;
type Schema = ElicitRequestFormParams['requestedSchema'];

const text = (words: string) => ({ type: 'text', text: words }) as const;
const said = (words: string): CallToolResult => ({ content: [text(words)] });
const one = (name: string, property: Schema['properties'][string] = { type: 'string' }): Schema => ({
  type: 'object',
  properties: { [name]: property },
  required: [name],
});
const form = (message: string, requestedSchema: Schema) => inputRequired.elicit({ message, requestedSchema });
const prompt = (words: string, maxTokens: number) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: text(words) }], maxTokens });

/** An answer that the client brings, where it has the shape. */
function answerOf<Content extends z.ZodType>(context: ServerContext, name: string, shape: Content) {
  const parsed = shape.safeParse(context.mcpReq.inputResponses?.[name]);
  return parsed.success ? parsed.data : undefined;
}

const Elicited = z.looseObject({ action: z.string(), content: z.record(z.string(), z.unknown()).optional() });
const Accepted = z.looseObject({ action: z.literal('accept'), content: z.record(z.string(), z.unknown()) });
const Sampled = z.looseObject({ content: z.unknown() });
const Rooted = z.looseObject({ roots: z.array(z.unknown()) });

/** Called when a list changes. */
export interface Changed {
  tools(): void;
  prompts(): void;
}

const NOBODY: Changed = { tools: () => undefined, prompts: () => undefined };

/** Create the server; it answers in the revision that it is served in. */
export function createServer(changed: Changed = NOBODY): McpServer {
  const server = new McpServer(
    { name: 'conformance-upstream', version: '1.0.0' },
    {
      capabilities: {
        logging: {},
        completions: {},
        resources: { subscribe: true },
        tools: { listChanged: true },
        prompts: { listChanged: true },
      },
      requestState: { verify: states.verify },
    },
  );
  // Nothing is ever announced, so a subscription has only to be taken.
  server.server.setRequestHandler('resources/subscribe', () => ({}));
  server.server.setRequestHandler('resources/unsubscribe', () => ({}));
  addPlainTools(server);
  addAskingTools(server);
  addMultiRoundTools(server);
  addTriggers(server, changed);
  addResources(server);
  addPrompts(server);
  return server;
}

function addPlainTools(server: McpServer): void {
  const tool = (name: string, result: CallToolResult) =>
    server.registerTool(name, { description: `Returns what ${name} says` }, () => result);
  const image = { type: 'image', data: PNG, mimeType: 'image/png' } as const;
  const resource = (uri: string, mimeType: string, words: string) =>
    ({ type: 'resource', resource: { uri, mimeType, text: words } }) as const;
  tool('test_simple_text', said('This is a simple text response for testing.'));
  tool('test_image_content', { content: [image] });
  tool('test_audio_content', { content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] });
  const embedded = resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.');
  tool('test_embedded_resource', { content: [embedded] });
  const json = resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}');
  tool('test_multiple_content_types', { content: [text('Multiple content types test:'), image, json] });
  server.registerTool('test_error_handling', { description: 'Fails' }, () => {
    throw new Error('This tool intentionally returns an error for testing');
  });
  server.registerTool('test_tool_with_logging', { description: 'Logs' }, async ({ mcpReq }) => {
    for (const words of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await mcpReq.log('info', words);
      await wait(50);
    }
    return said('Logged three messages');
  });
  server.registerTool('test_tool_with_progress', { description: 'Tells its progress' }, async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined)
        await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
      await wait(50);
    }
    return said('Told three steps');
  });
}

/** Tools that ask once, and say what was answered. */
function addAskingTools(server: McpServer): void {
  const asks = (name: string, message: string, requestedSchema: Schema) =>
    server.registerTool(name, { description: 'Asks the person' }, (context): Answer => {
      const answer = answerOf(context, 'asked', Elicited);
      if (!answer) return inputRequired({ inputRequests: { asked: form(message, requestedSchema) } });
      return said(`Elicitation completed: action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`);
    });
  const inputSchema = z.object({ message: z.string() });
  server.registerTool('test_elicitation', { description: 'Asks', inputSchema }, ({ message }, context): Answer => {
    const answer = answerOf(context, 'asked', Elicited);
    if (answer)
      return said(`User response: action: ${answer.action}, content: ${JSON.stringify(answer.content ?? {})}`);
    const username = { type: 'string', description: "User's response" } as const;
    const email = { type: 'string', description: "User's email address" } as const;
    const schema: Schema = { type: 'object', properties: { username, email }, required: ['username', 'email'] };
    return inputRequired({ inputRequests: { asked: form(message, schema) } });
  });
  const asked = z.object({ prompt: z.string() });
  server.registerTool(
    'test_sampling',
    { description: 'Asks a model', inputSchema: asked },
    (input, context): Answer => {
      const answer = answerOf(context, 'asked', Sampled);
      if (!answer) return inputRequired({ inputRequests: { asked: prompt(input.prompt, 100) } });
      const { content } = answer as { content: { text?: string } };
      return said(`LLM response: ${content.text ?? JSON.stringify(content)}`);
    },
  );
  asks('test_elicitation_sep1034_defaults', 'Please check these values', {
    type: 'object',
    properties: {
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    },
    required: [],
  });
  const plain = ['option1', 'option2', 'option3'];
  const titled = (what: string) =>
    ['First', 'Second', 'Third'].map((which, index) => ({ const: `value${index + 1}`, title: `${which} ${what}` }));
  asks('test_elicitation_sep1330_enums', 'Please choose', {
    type: 'object',
    properties: {
      untitledSingle: { type: 'string', enum: plain },
      titledSingle: { type: 'string', oneOf: titled('Option') },
      legacyEnum: {
        type: 'string',
        enum: ['opt1', 'opt2', 'opt3'],
        enumNames: ['Option One', 'Option Two', 'Option Three'],
      },
      untitledMulti: { type: 'array', items: { type: 'string', enum: plain } },
      titledMulti: { type: 'array', items: { anyOf: titled('Choice') } },
    },
    required: [],
  });
}

/** Tools of 2026-07-28 that need several rounds. */
function addMultiRoundTools(server: McpServer): void {
  const tool = (name: string, run: (context: ServerContext) => Answer | Promise<Answer>) =>
    server.registerTool(name, { description: 'Needs input' }, run);
  const nameForm = form('What is your name?', one('name'));
  const mint = (step: number) => states.mint({ step });
  const stepOf = (context: ServerContext) => context.mcpReq.requestState<{ step: number }>()?.step ?? 0;
  tool('test_input_required_result_elicitation', (context) => {
    const name = answerOf(context, 'user_name', Accepted)?.content['name'];
    if (typeof name !== 'string') return inputRequired({ inputRequests: { user_name: nameForm } });
    return said(`Hello, ${name}!`);
  });
  tool('test_input_required_result_sampling', (context) => {
    const answer = answerOf(context, 'capital_question', Sampled);
    if (answer) return said(`The model says: ${JSON.stringify(answer.content)}`);
    return inputRequired({ inputRequests: { capital_question: prompt('What is the capital of France?', 100) } });
  });
  tool('test_input_required_result_list_roots', (context) => {
    const answer = answerOf(context, 'client_roots', Rooted);
    if (answer) return said(`The roots are ${JSON.stringify(answer.roots)}`);
    return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
  });
  for (const name of ['test_input_required_result_request_state', 'test_input_required_result_tampered_state']) {
    tool(name, async (context) => {
      if (stepOf(context) === 1 && answerOf(context, 'confirm', Accepted)) return said('state-ok');
      const inputRequests = { confirm: form('Please confirm', one('ok', { type: 'boolean' })) };
      return inputRequired({ inputRequests, requestState: await mint(1) });
    });
  }
  tool('test_input_required_result_multiple_inputs', async (context) => {
    const answers = [
      answerOf(context, 'user_name', Accepted),
      answerOf(context, 'greeting', Sampled),
      answerOf(context, 'client_roots', Rooted),
    ];
    if (answers.every((answer) => answer !== undefined)) return said(`Got ${JSON.stringify(answers)}`);
    const greeting = prompt('Generate a greeting', 50);
    const inputRequests = { user_name: nameForm, greeting, client_roots: inputRequired.listRoots() };
    return inputRequired({ inputRequests, requestState: await mint(1) });
  });
  tool('test_input_required_result_multi_round', async (context) => {
    const step = stepOf(context);
    if (step === 2 && answerOf(context, 'step2', Accepted)) return said('Both steps are done');
    const isSecond = step === 1 && answerOf(context, 'step1', Accepted) !== undefined;
    const inputRequests: InputRequests = isSecond
      ? { step2: form('Step 2: What is your favorite color?', one('color')) }
      : { step1: form('Step 1: What is your name?', one('name')) };
    return inputRequired({ inputRequests, requestState: await mint(isSecond ? 2 : 1) });
  });
  tool('test_input_required_result_capabilities', (context) => {
    const declared = server.server.getClientCapabilities() ?? {};
    const { inputResponses = {} } = context.mcpReq;
    if (Object.keys(inputResponses).length > 0) return said('Got what the client can do');
    const inputRequests: InputRequests = {
      ...(declared.elicitation && { user_name: nameForm }),
      ...(declared.sampling && { greeting: prompt('Generate a greeting', 50) }),
      ...(declared.roots && { client_roots: inputRequired.listRoots() }),
    };
    return Object.keys(inputRequests).length === 0
      ? said('The client can do nothing')
      : inputRequired({ inputRequests });
  });
}

/** Tools that say that a list has changed, and one that a client must have declared sampling for. */
function addTriggers(server: McpServer, changed: Changed): void {
  server.registerTool('test_trigger_tool_change', { description: 'Changes the tools' }, () => {
    changed.tools();
    return said('Changed');
  });
  server.registerTool('test_trigger_prompt_change', { description: 'Changes the prompts' }, () => {
    changed.prompts();
    return said('Changed');
  });
  server.registerTool('test_logging_tool', { description: 'Logs' }, async ({ mcpReq }) => {
    await mcpReq.log('info', 'Logged where the client asked for it');
    return said('Logged');
  });
  server.registerTool('test_streaming_elicitation', { description: 'Asks the person' }, (context): Answer => {
    const answer = answerOf(context, 'asked', Elicited);
    if (answer) return said(`Answered: ${answer.action}`);
    return inputRequired({ inputRequests: { asked: form('Go on?', one('ok', { type: 'boolean' })) } });
  });
  server.registerTool('test_missing_capability', { description: 'Needs sampling' }, (context): Answer => {
    if (answerOf(context, 'asked', Sampled)) return said('Sampled');
    return inputRequired({ inputRequests: { asked: prompt('Anything', 10) } });
  });
}

function addResources(server: McpServer): void {
  const about = (mimeType: string, description: string) => ({ mimeType, description });
  server.registerResource('static-text', 'test://static-text', about('text/plain', 'A text'), ({ href: uri }) => ({
    contents: [{ uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }],
  }));
  server.registerResource('static-binary', 'test://static-binary', about('image/png', 'An image'), ({ href: uri }) => ({
    contents: [{ uri, mimeType: 'image/png', blob: PNG }],
  }));
  server.registerResource('watched', 'test://watched-resource', about('text/plain', 'A text'), ({ href: uri }) => ({
    contents: [{ uri, mimeType: 'text/plain', text: 'Watched' }],
  }));
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined });
  server.registerResource('template', template, about('application/json', 'Data by id'), ({ href: uri }, { id }) => {
    if (typeof id !== 'string') throw new ResourceNotFoundError(uri);
    const data = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
    return { contents: [{ uri, mimeType: 'application/json', text: data }] };
  });
}

function addPrompts(server: McpServer): void {
  const user = <Content>(content: Content) => ({ role: 'user', content }) as const;
  server.registerPrompt('test_simple_prompt', { description: 'A prompt' }, () => ({
    messages: [user(text('This is a simple prompt for testing.'))],
  }));
  const complete = (value: string) => ['paris', 'park', 'party'].filter((word) => word.startsWith(value));
  const argsSchema = z.object({ arg1: completable(z.string(), complete), arg2: z.string() });
  const withArguments = { description: 'A prompt with arguments', argsSchema };
  server.registerPrompt('test_prompt_with_arguments', withArguments, ({ arg1, arg2 }) => ({
    messages: [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
  }));
  const embedding = { description: 'A prompt with a resource', argsSchema: z.object({ resourceUri: z.string() }) };
  server.registerPrompt('test_prompt_with_embedded_resource', embedding, ({ resourceUri: uri }) => {
    const words = 'Embedded resource content for testing.';
    const resource = { type: 'resource', resource: { uri, mimeType: 'text/plain', text: words } } as const;
    return { messages: [user(resource), user(text('Please process the embedded resource above.'))] };
  });
  server.registerPrompt('test_prompt_with_image', { description: 'A prompt with an image' }, () => {
    const image = { type: 'image', data: PNG, mimeType: 'image/png' } as const;
    return { messages: [user(image), user(text('Please analyze the image above.'))] };
  });
  server.registerPrompt(
    'test_input_required_result_prompt',
    { description: 'Needs input' },
    (context: ServerContext) => {
      const answer = answerOf(context, 'user_context', Accepted);
      if (answer) return { messages: [user(text(`In the context ${JSON.stringify(answer.content)}`))] };
      const asked = form('What context should the prompt use?', one('context'));
      return inputRequired({ inputRequests: { user_context: asked } });
    },
  );
}

if (process.argv[1] === import.meta.filename) await createServer().connect(new StdioServerTransport());
