/** `npm start`: the server answers where its first line says, and ends with the npm that started it. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { longRunning } from '../helpers/long-running.ts';
import { processesWith, until } from '../helpers/process-host.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { block, wireClient } from '../helpers/wire-client.ts';

const surroundings = {
  cwd: join(import.meta.dirname, '../..'),
  env: { PATH: process.env['PATH'], HOME: temporaryFolder() },
};

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

/** Resolves when nobody listens any more; a test's own time limit ends the wait. */
async function closed(port: number): Promise<void> {
  while (await isListening(port)) await new Promise((resolve) => setTimeout(resolve, 50));
}

describe('npm start', () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGKILL'] as const)('ends the server when npm gets %s', async (signal) => {
    const npm = await longRunning(['npm', 'start', '--', '--port', '0'], /^Listening on .*\n/m, surroundings);
    onTestFinished(() => npm.stop());
    const port = Number(/^Listening on http:\/\/127\.0\.0\.1:(\d+)$/m.exec(npm.printed)?.[1]);
    expect(await isListening(port)).toBe(true);
    npm.child.kill(signal);
    await npm.exited;
    await closed(port);
  });

  it('lets a running call finish when a service manager sends SIGTERM to npm and to the server', async () => {
    const home = temporaryFolder();
    const token = 'a-token-of-this-test-alone';
    const env = {
      ...surroundings.env,
      GAUNTLET_DATA_DIR: temporaryFolder(),
      GAUNTLET_WORKSPACE: home,
      GAUNTLET_TOKEN: token,
    };
    const npm = await longRunning(['npm', 'start', '--', '--port', '0'], /^Listening on .*\n/m, {
      ...surroundings,
      env,
    });
    onTestFinished(() => npm.stop());
    const client = wireClient({ url: /^Listening on (\S+)$/m.exec(npm.printed)?.[1] ?? '', token });
    const sessionId = await client.session({ mode: 'bypassPermissions' });
    const reply = client.execute(sessionId, [
      block('Bash', { command: 'touch started; until [ -e go ]; do sleep 0.02; done' }),
    ]);
    await until(() => existsSync(join(home, 'started')));
    const pid = npm.child.pid ?? 0;
    const servers = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
    npm.child.kill('SIGTERM');
    // Two that arrive in one moment would be one: the kernel keeps no count.
    await until(async () => (await client.get('/readyz')).status === 503);
    for (const server of servers) process.kill(server, 'SIGTERM');
    writeFileSync(join(home, 'go'), '');
    expect(await reply).toMatchObject({ calls: [{ status: 'ok' }] });
    await npm.exited;
  });

  it('shows the token in no environment but that of npm, and names npm', async () => {
    const token = 'canary-token-under-npm-0123';
    const env = { ...surroundings.env, GAUNTLET_TOKEN: token };
    const npm = await longRunning(['npm', 'start', '--', '--port', '0'], /^Listening on .*\n/m, {
      ...surroundings,
      env,
    });
    onTestFinished(() => npm.stop());
    const pid = npm.child.pid ?? 0;
    await until(() => npm.complained().includes('GAUNTLET_TOKEN'));
    expect(npm.complained()).toContain(`(process ${pid}), which started this server`);
    expect(npm.complained()).not.toContain(token);
    // Shells that are started ahead may still be on their way.
    await until(() => processesWith(token).every((holder) => holder === pid));
  });
});
