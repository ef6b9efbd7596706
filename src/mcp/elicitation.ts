/**
 * Elicitation: a server asks the person for values (a form) or to open an address, while one of its calls runs.
 */
import { type ElicitRequest, type ElicitResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/client';
import { GauntletError } from '../base/errors.ts';
import type { JsonObject } from '../base/json.ts';
import type { AskMidCall, MidCallQuestion } from '../tool/mid-call-question.ts';
import type { DisplayBlock, FormField } from '../wire/display.ts';
import { jsonSchemaInput } from './json-schema-input.ts';
import { visibleLine, visibleText } from './visible-text.ts';

/** Key of the values in `updated_input`. */
const FORM_KEY = 'answers';

/** Longest message of a server to a person, in characters. */
const MESSAGE_CHARS = 4_000;

/** Longest label, description or value of a form, in characters. */
const LABEL_CHARS = 500;

/** Fields of one form, and choices of one field: no person fills in more. */
const MAX_FIELDS = 100;
const MAX_CHOICES = 500;

/** Longest address that a person is sent to, in characters. */
const ADDRESS_CHARS = 2_000;

/** The call that a server asks about. */
export interface AskingCall {
  /** Name of the server, as configured. */
  readonly server: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly ask: AskMidCall;
}

/**
 * Ask the person.
 *
 * @throws {ProtocolError} For a request that cannot be shown; the server gets it as the error of its request.
 */
export async function elicit(
  params: ElicitRequest['params'],
  call: AskingCall,
  signal: AbortSignal,
): Promise<ElicitResult> {
  const message = visibleText(params.message, MESSAGE_CHARS);
  const asked = params.mode === 'url' ? askToOpen(params.url, message, call) : askForValues(params, message, call);
  const answer = await call.ask(asked.question, signal);
  if (answer.behavior === 'deny') return { action: answer.isAnswer === true ? 'decline' : 'cancel' };
  return { action: 'accept', ...asked.contentOf(answer.updatedInput) };
}

/** A question, and what an answer means for the server. */
interface Asked {
  readonly question: MidCallQuestion;
  contentOf(updatedInput: Readonly<Record<string, unknown>> | undefined): Pick<ElicitResult, 'content'>;
}

function askToOpen(address: string, message: string, { server, input }: AskingCall): Asked {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.href.length > ADDRESS_CHARS) {
    throw invalidRequest(`"url" must be an http or https address of at most ${ADDRESS_CHARS} characters`);
  }
  const warnings = [
    ...(url.protocol === 'http:' ? ['The page is not encrypted'] : []),
    ...(url.hostname.includes('xn--') ? ['The name of the host has letters that may look like others'] : []),
    ...(url.username === '' ? [] : ['The address has a user name ahead of the host']),
  ];
  const title = `The MCP server "${server}" asks you to open a page of ${url.host}. Answer yes when you have done what it wants`;
  const blocks: DisplayBlock[] = [
    { kind: 'text', text: message },
    { kind: 'link', href: url.href, text: url.href },
  ];
  const display = { title: `Open a page of ${url.host}`, tone: 'warning' as const, blocks };
  return { question: { title, description: message, display, input, warnings }, contentOf: () => ({}) };
}

function askForValues(
  params: Exclude<ElicitRequest['params'], { mode: 'url' }>,
  message: string,
  { server, input }: AskingCall,
): Asked {
  const { properties, required = [] } = params.requestedSchema;
  const entries = Object.entries(properties).map(([name, schema]) => ({ name, schema: schema as JsonObject }));
  if (entries.length > MAX_FIELDS) throw invalidRequest(`a form has at most ${MAX_FIELDS} fields`);
  const fields = entries.map(({ name, schema }) => fieldOf(name, schema, required.includes(name)));
  const defaults = Object.fromEntries(
    entries.flatMap(({ name, schema }) => (schema['default'] === undefined ? [] : [[name, schema['default']]])),
  );
  const judge = jsonSchemaInput({ type: 'object', properties, required, additionalProperties: false } as JsonObject);
  const valuesOf = (updatedInput: Readonly<Record<string, unknown>> | undefined): Record<string, unknown> => {
    const given = updatedInput?.[FORM_KEY] ?? {};
    const parsed = judge.safeParse(
      typeof given === 'object' && !Array.isArray(given) ? { ...defaults, ...given } : given,
    );
    if (parsed.success) return parsed.data;
    const issues = parsed.error.issues.map(
      ({ path, message: words }) => `"${['updated_input', FORM_KEY, ...path].map(String).join('.')}": ${words}`,
    );
    throw new GauntletError('invalid_request', `The answer does not fit the form: ${issues.join('; ')}`, {
      details: { path: `updated_input.${FORM_KEY}` },
    });
  };
  const title = `The MCP server "${server}" asks for information. It gets what you answer`;
  const blocks: DisplayBlock[] = [
    { kind: 'text', text: message },
    { kind: 'form', key: FORM_KEY, fields },
  ];
  return {
    question: {
      ...{ title, description: message, input },
      display: { title: `"${server}" asks`, tone: 'info', blocks },
      check: (updatedInput) => void valuesOf(updatedInput),
    },
    contentOf: (updatedInput) => ({ content: valuesOf(updatedInput) as NonNullable<ElicitResult['content']> }),
  };
}

/** Convert one property of the schema, of a kind that the protocol allows, to a field. */
function fieldOf(name: string, schema: JsonObject, isRequired: boolean): FormField {
  const { title, description, format, type, default: value } = schema;
  const words = [description, typeof format === 'string' ? `(${format})` : undefined].filter(
    (text) => typeof text === 'string',
  );
  const choices = choicesOf(schema);
  return {
    name,
    label: visibleLine(typeof title === 'string' ? title : name, LABEL_CHARS),
    ...(words.length > 0 && { description: visibleLine(words.join(' '), LABEL_CHARS) }),
    type: choices ? 'choice' : type === 'boolean' ? 'boolean' : type === 'string' ? 'text' : 'number',
    ...(choices && { choices, ...(type === 'array' && { multiple: true }) }),
    ...(isRequired && { required: true }),
    ...(value !== undefined && value !== null && { value: value as FormField['value'] & {} }),
  };
}

function choicesOf(schema: JsonObject): NonNullable<FormField['choices']> | undefined {
  const holder = (schema['type'] === 'array' ? schema['items'] : schema) as JsonObject;
  const titled = holder['oneOf'] ?? holder['anyOf'];
  const names = schema['enumNames'];
  const choices = Array.isArray(titled)
    ? (titled as JsonObject[]).map((choice) => ({ value: choice['const'], label: choice['title'] ?? choice['const'] }))
    : Array.isArray(holder['enum'])
      ? holder['enum'].map((value, index) => ({ value, label: (Array.isArray(names) && names[index]) || value }))
      : undefined;
  if (choices !== undefined && choices.length > MAX_CHOICES) {
    throw invalidRequest(`a field has at most ${MAX_CHOICES} choices`);
  }
  return choices?.map(({ value, label }) => ({
    value: String(value),
    label: visibleLine(String(label), LABEL_CHARS),
  }));
}

function invalidRequest(why: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Cannot ask the person: ${why}`);
}
