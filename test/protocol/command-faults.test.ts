/** HARDENING B: commands that will not end, flood, fork and flee, through the real server. */
import { beforeAll, describe, expect, it } from 'vitest';
import { startServer, type BuiltServer } from '../helpers/built-server.ts';
import { watchHealth } from '../helpers/health.ts';
import { block, wireClient, type WireClient } from '../helpers/wire-client.ts';

const CANARY = 'canary-5f2c9e';
/** How late an end may be on a machine that runs other tests beside; 250 ms on a quiet one. */
const LATE_MS = 1_000;

let server: BuiltServer;
let client: WireClient;

beforeAll(async () => {
  server = await startServer({
    settings: { limits: { killGraceMs: 300 } },
    environment: {
      ANTHROPIC_API_KEY: `${CANARY}-anthropic`,
      AWS_SECRET_ACCESS_KEY: `${CANARY}-aws`,
      DATABASE_URL: `${CANARY}-database`,
      NODE_OPTIONS: `--stack-trace-limit=11 --title=${CANARY}`,
    },
  });
  client = wireClient(server);
});

/** Run one command in a session of its own, and time it. */
async function run(command: string, more: object = {}) {
  const sessionId = await client.session({ mode: 'bypassPermissions' });
  const startedMs = performance.now();
  const { results, calls } = await client.execute(sessionId, [block('Bash', { command, ...more })]);
  return { sessionId, text: results[0]?.content ?? '', call: calls[0], tookMs: performance.now() - startedMs };
}

describe('a command', () => {
  it('F13: that ignores TERM is killed with its grandchild after timeout and grace', async () => {
    const health = await watchHealth(server);
    const { call, tookMs } = await run(`trap "" TERM; sleep 30 & wait; wait`, { timeout: 300 });
    expect(call).toMatchObject({ status: 'error', error_code: 'timeout' });
    expect(tookMs).toBeLessThan(300 + 300 + LATE_MS);
    await health.assertHealthy();
  });
});
