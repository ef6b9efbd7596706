/** No secret comes out: not in a log line at its most talkative, not in an error, not in a frame. */
import { beforeAll, describe, expect, it } from 'vitest';
import { runServer, serverHome, startServer, type BuiltServer } from '../helpers/built-server.ts';
import { fixtureServer } from '../helpers/mcp-servers.ts';
import { environmentOf } from '../helpers/process-host.ts';
import { block, rawRequest, until, wireClient, type WireClient } from '../helpers/wire-client.ts';

const SECRETS = {
  GAUNTLET_TOKEN: 'canary-token-0123456789abcdef',
  AWS_SECRET_ACCESS_KEY: 'canary-of-the-environment',
  HOOK_SECRET: 'canary-of-a-webhook',
  MODEL_API_KEY: 'canary-of-a-model',
  MCP_KEY: 'canary-of-a-server',
};
const NOT_LOGGED = ['canary-of-an-input', 'canary-of-an-output', 'canary-of-a-wrong-token'];

let server: BuiltServer;
let client: WireClient;
let replies = '';

beforeAll(async () => {
  server = await startServer({
    environment: { ...SECRETS, GAUNTLET_LOG_LEVEL: 'trace' },
    settings: {
      mcpServers: {
        broken: { ...fixtureServer('crash-at-start'), env: { API_KEY: '${MCP_KEY}' } },
        away: { type: 'http', url: 'http://127.0.0.1:9/mcp', headers: { authorization: 'Bearer ${MCP_KEY}' } },
      },
      approvals: { webhooks: [{ url: 'http://127.0.0.1:9/', secretEnv: 'HOOK_SECRET' }] },
      models: {
        default: { provider: 'anthropic', model: 'm', apiKeyEnv: 'MODEL_API_KEY', baseUrl: 'http://127.0.0.1:9' },
      },
      hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: 'env; env >&2; exit 1' }] }] },
    },
  });
  client = wireClient(server);
  await mishandle();
  replies += environmentOf(server.pid);
  await server.end();
});

/** Everything that could make a server say too much. */
async function mishandle(): Promise<void> {
  const keep = (text: string) => (replies += text);
  const { host } = new URL(server.url);
  for (const authorization of [
    'Bearer canary-of-a-wrong-token',
    `Basic ${server.token}`,
    `Bearer ${server.token}\tx`,
  ]) {
    keep((await rawRequest(`${server.url}/tools`, { headers: { host, authorization } })).text);
  }
  keep((await rawRequest(`${server.url}/tools?token=${server.token}`, { headers: { host } })).text);
  for (const path of ['/tools?format=full', '/metrics', '/sessions', '/openapi.json', '/readyz']) {
    keep((await client.get(path)).text);
  }
  keep((await client.post('/execute', `{"tool_uses": "${NOT_LOGGED[0]}"`)).text);
  const sessionId = await client.session({ mode: 'bypassPermissions' });
  const stream = await client.stream(sessionId, { from_seq: 0 });
  const command =
    'echo "canary-of-an-input" | tr a-z a-z; env; cat /proc/$PPID/environ; printf canary-of-an-; echo output';
  const blocks = [block('Bash', { command }), block('Read', { file_path: 'canary-of-an-input' }), block('Nothing', {})];
  keep(JSON.stringify(await client.execute(sessionId, blocks)));
  keep((await client.post(`/sessions/${sessionId}/prompts/canary-of-an-input`, { behavior: 'allow' })).text);
  const asking = await client.session();
  const asked = client.execute(asking, [block('Bash', { command: 'touch canary-of-an-input' })], { on_ask: 'wait' });
  const { prompts } = await until(async () => {
    const { body } = await client.get(`/sessions/${asking}/prompts`);
    return body.prompts.length > 0 && body;
  });
  await client.post(`/sessions/${asking}/prompts/${prompts[0]?.request_id}`, { behavior: 'deny' });
  await asked;
  await until(() => Promise.resolve(server.logged().includes('cannot find my configuration')));
  keep(JSON.stringify(stream.frames));
  await stream.close();
}

describe('A17: a secret', () => {
  it.each(Object.entries(SECRETS))('in %s is in no log, reply or frame, nor in what "ps e" prints', (_name, secret) => {
    expect(server.logged()).not.toContain(secret);
    expect(server.printed()).not.toContain(secret);
    expect(replies).not.toContain(secret);
  });

  it.each(NOT_LOGGED)('that is sent, %s, is in no log', (text) => {
    expect(server.logged() + server.printed()).not.toContain(text);
  });

  it('is in no line about a setting that is wrong', async () => {
    const home = serverHome();
    const settings = {
      webFetch: { allowPrivate: 'canary-of-a-setting' },
      models: { default: { apiKey: '${MODEL_API_KEY}' } },
    };
    const wrong = await runServer({ home, settings, environment: { MODEL_API_KEY: SECRETS.MODEL_API_KEY } });
    const missing = await runServer({ home, settings: { token: '${NOT_SET}canary-of-a-setting' } });
    const bad = await runServer({ environment: { GAUNTLET_TOKEN: 'canary of a setting' } });
    for (const { code, stdout, stderr } of [wrong, missing, bad]) {
      expect({ code, lines: stderr.trim().split('\n').length }).toEqual({ code: 78, lines: 1 });
      expect(stdout + stderr).not.toMatch(/canary/);
    }
    expect(missing.stderr).toContain('NOT_SET');
  });
});

describe('A18: what is reflected', () => {
  const html = '<img src=x onerror=alert(1)>';

  it('is JSON that no browser takes for a page, from whatever origin', async () => {
    const fresh = await startServer();
    const { host } = new URL(fresh.url);
    const headers = { host, authorization: `Bearer ${fresh.token}` };
    for (const path of [
      `/tools/${encodeURIComponent(html)}`,
      `/${encodeURIComponent(html)}`,
      `/sessions?x=${encodeURIComponent(html)}`,
    ]) {
      const reply = await fetch(fresh.url + path, { headers });
      expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
      expect(reply.headers.get('access-control-allow-origin')).toBeNull();
    }
    const preflight = { origin: 'http://evil.example', 'access-control-request-method': 'POST' };
    const asked = await fetch(`${fresh.url}/execute`, { method: 'OPTIONS', headers: preflight });
    expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([403, null]);
  });
});
