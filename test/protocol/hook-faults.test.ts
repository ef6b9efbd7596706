/** F37 to F39: hooks that break, and contexts that change, while calls are on their way. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { startServer, type BuiltServer } from '../helpers/built-server.ts';
import { watchHealth } from '../helpers/health.ts';
import { block, until, wireClient, type WireClient } from '../helpers/wire-client.ts';

let server: BuiltServer;
let client: WireClient;

beforeAll(async () => {
  const hook = { type: 'command', command: 'test ! -e hook.sh || . ./hook.sh', timeout: 1 };
  server = await startServer({ settings: { hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [hook] }] } } });
  client = wireClient(server);
});

/** A session in a folder of its own, whose hook is this script. */
async function hooked(name: string, script: string, options: object = {}): Promise<string> {
  mkdirSync(join(server.workspace, name));
  writeFileSync(join(server.workspace, name, 'hook.sh'), script);
  return client.session({ cwd: name, mode: 'bypassPermissions', ...options });
}

const said = (answer: object) =>
  `echo '${JSON.stringify({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...answer } })}'`;
const bash = (command: string) => block('Bash', { command });

describe('F37: a guard that breaks', () => {
  it.each([
    ['blocks', 'exit 2'],
    ['dies', 'kill -SEGV $$'],
    ['hangs', 'setsid sleep 60 & sleep 60'],
    ['floods', 'head -c 50000000 /dev/zero | tr "\\0" a'],
    ['garbage', "echo '{not json'"],
    ['deep', 'printf "[%.0s" $(seq 10000)'],
    ['misfit', said({ permissionDecision: 'allow', updatedInput: { command: 7 } })],
  ])('%s lets nothing through, and leaves nothing behind', async (name, script) => {
    const health = await watchHealth(server, { memoryMiB: 96 });
    const sessionId = await hooked(name, script);
    const { calls } = await client.execute(sessionId, [bash('touch ran'), block('Glob', { pattern: '*' })]);
    expect(calls[0]?.status).toMatch(/^(denied|error)$/);
    expect(calls[1]).toMatchObject({ status: 'ok' });
    expect(existsSync(join(server.workspace, name, 'ran'))).toBe(false);
    await health.assertHealthy();
  });
});

describe('F38: a hook that allows', () => {
  it.each([
    ['rule', { rules: { deny: ['Bash(touch:*)'] } }],
    ['plan', { mode: 'plan' }],
  ])('does not beat a deny: %s', async (name, options) => {
    const sessionId = await hooked(name, said({ permissionDecision: 'allow' }), options);
    expect((await client.execute(sessionId, [bash('touch ran')])).calls).toMatchObject([{ status: 'denied' }]);
    expect(existsSync(join(server.workspace, name, 'ran'))).toBe(false);
  });
});

describe('F39: a context that changes while a call runs', () => {
  it('is seen by the next call, and not by that one', async () => {
    const sessionId = await hooked('context', '');
    const running = client.execute(sessionId, [bash('touch began; until [ -e go ]; do sleep 0.02; done; touch after')]);
    const folder = join(server.workspace, 'context');
    await until(() => Promise.resolve(existsSync(join(folder, 'began'))));
    const updates = [{ type: 'setMode', mode: 'plan' }];
    expect((await client.post(`/sessions/${sessionId}/permissions`, { updates })).body).toMatchObject({ version: 2 });
    const next = client.execute(sessionId, [bash('touch never')]);
    writeFileSync(join(folder, 'go'), '');
    expect((await running).calls).toMatchObject([{ status: 'ok' }]);
    expect((await next).calls).toMatchObject([{ status: 'denied' }]);
    expect(existsSync(join(folder, 'after'))).toBe(true);
  });
});
