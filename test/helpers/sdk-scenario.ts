/** What every SDK must get through: a server, a script of a model, and what the model must have been told. */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Client, connect, type WebSocketConstructor } from '../../client/src/index.ts';
import { startServer, type BuiltServer } from './built-server.ts';
import { packageServer } from './mcp-servers.ts';
import { providerModel, type ProviderModel } from './provider-model.ts';
import type { ScriptedStep } from './scripted-model.ts';
import { until, wireClient } from './wire-client.ts';

/** One grey point. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==';
/** The tools that the script uses. */
const BUILT_IN = ['Glob', 'Read', 'Write', 'Bash'];
const NAMES = [...BUILT_IN, 'mcp__everything__get-sum'];
/** Everything, in turns whose ids come again. */
const STEPS: readonly ScriptedStep[] = [
  {
    text: 'I look around.',
    calls: [
      { name: 'Glob', input: { pattern: '*.md' } },
      { name: 'Read', input: { file_path: 'point.png' } },
      { name: 'Write', input: { file_path: 'made.txt', content: 'made by a model' } },
    ],
  },
  {
    calls: [
      { name: 'Read', input: { file_path: 'made.txt' } },
      { name: 'Read', input: { file_path: 'missing.md' } },
      { name: 'mcp__everything__get-sum', input: { a: 19, b: 23 } },
    ],
  },
  { calls: [{ name: 'Bash', input: { command: 'touch asked && echo touched' } }] },
  { text: 'All done.' },
];

/** What the tests of one SDK work with. */
export interface SdkScenario {
  readonly model: ProviderModel;
  /** Connect, with a person who allows what is asked. */
  connect(): Promise<Client>;
  /** Let the SDK work through the script, and look at what the model was told. */
  work(options: WorkOptions, run: (client: Client) => Promise<unknown>): Promise<void>;
  /** Let the SDK ask its own person about a command: the client is asked nothing, and the command runs. */
  ask(run: (client: Client) => Promise<unknown>, script?: ScriptOptions): Promise<void>;
  /** Let the SDK begin a long command, abort it, and wait until the server has stopped. */
  abort(run: (client: Client, signal: AbortSignal) => Promise<unknown>, script?: ScriptOptions): Promise<void>;
}

/** What a model must do for an SDK. */
export interface ScriptOptions {
  /** The SDK's name of a tool. */
  readonly rename?: (name: string) => string;
  /** The SDK refuses ids that come again. */
  readonly hasUniqueIds?: boolean;
}

/** How an SDK differs. */
export interface WorkOptions extends ScriptOptions {
  /** The model is not shown images, since the SDK takes text alone from a tool. */
  readonly hasNoImages?: boolean;
}

/** What the platform may lack. */
export interface ScenarioOptions {
  readonly WebSocket?: WebSocketConstructor;
}

/** Start a server and a model; both end with the test file. */
export async function sdkScenario({ WebSocket }: ScenarioOptions = {}): Promise<SdkScenario> {
  const server: BuiltServer = await startServer({
    mayKeep: ['server-everything'],
    settings: {
      mcpServers: { everything: packageServer('@modelcontextprotocol/server-everything/dist/index.js', 'stdio') },
    },
  });
  const model = await providerModel();
  const inside = (name: string) => join(server.workspace, name);
  writeFileSync(inside('notes.md'), 'one\ntwo\n');
  writeFileSync(inside('point.png'), Buffer.from(PNG, 'base64'));
  const wire = wireClient(server);
  let asked: string[] = [];

  async function connected(): Promise<Client> {
    const client = await connect({
      url: server.url,
      token: server.token,
      WebSocket,
      session: {
        tools: [...BUILT_IN, 'mcp__everything'],
        rules: { allow: ['Write', 'mcp__everything', 'Bash(sleep *)'] },
      },
      onAsk: ({ tool_name }) => {
        asked.push(tool_name);
        return { behavior: 'allow' };
      },
    });
    await until(async () => (await client.tools('anthropic', { names: NAMES })).length === NAMES.length);
    return client;
  }

  return {
    model,
    connect: connected,
    async work({ hasNoImages = false, ...script }, run) {
      for (const name of ['made.txt', 'asked']) rmSync(inside(name), { force: true });
      asked = [];
      model.script(scripted(STEPS, script));
      const client = await connected();
      await run(client);
      client.close();
      // Some SDKs send only what is new.
      const told = model.requests.join('\n');
      expect({
        requests: model.requests.length,
        areOptionalsKept: told.includes('"required":["file_path"]'),
        isListed: told.includes('notes.md'),
        isImageShown: told.includes(PNG),
        isWritten: told.includes('made by a model'),
        isErrorMarked: /error[^]{0,300}missing\.md|missing\.md[^]{0,300}error/i.test(told),
        isSumTold: told.includes('23 is 42'),
        isAskedCallMade: told.includes('touched') && existsSync(inside('asked')),
        asked,
      }).toEqual({
        requests: STEPS.length,
        areOptionalsKept: true,
        isListed: true,
        isImageShown: !hasNoImages,
        isWritten: true,
        isErrorMarked: true,
        isSumTold: true,
        isAskedCallMade: true,
        asked: ['Bash'],
      });
    },
    async ask(run, script = {}) {
      rmSync(inside('asked'), { force: true });
      asked = [];
      model.script(scripted([...STEPS.slice(2)], script));
      const client = await connected();
      await run(client);
      client.close();
      expect({ isAskedCallMade: existsSync(inside('asked')), asked }).toEqual({ isAskedCallMade: true, asked: [] });
    },
    async abort(run, script = {}) {
      model.script(scripted([{ calls: [{ name: 'Bash', input: { command: 'sleep 30' } }] }], script));
      const client = await connected();
      const controller = new AbortController();
      const ended = run(client, controller.signal).then(
        () => undefined,
        () => undefined,
      );
      const state = async () => (await wire.get(`/sessions/${client.sessionId}`)).body['state'];
      await until(async () => (await state()) === 'running');
      controller.abort();
      await until(async () => (await state()) === 'idle');
      client.close();
      await ended;
      expect(model.requests.length).toBeLessThanOrEqual(2);
    },
  };
}

function scripted(
  steps: readonly ScriptedStep[],
  { rename = (name) => name, hasUniqueIds = false }: ScriptOptions,
): readonly ScriptedStep[] {
  return steps.map(({ calls, ...step }, turn) => ({
    ...step,
    ...(calls && {
      calls: calls.map((call, place) => ({
        ...call,
        name: rename(call.name),
        ...(hasUniqueIds && { id: `call_${turn}_${place}` }),
      })),
    }),
  }));
}
