/** HARDENING B: commands that will not end, flood, fork and flee, through the real server. */
import { readFileSync, statSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../config/limits.ts';
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

  it.each([
    'setsid sleep 60 & sleep 0.05; touch fled',
    '(setsid bash -c "setsid sleep 60 & disown; sleep 60" &) ; touch fled',
    'nohup setsid sleep 60 >/dev/null 2>&1 & disown; touch fled',
    'setsid bash -c "trap \'\' TERM HUP INT; while :; do sleep 1; done" & touch fled',
  ])('F14: that flees is gone when its call has ended: %s', async (command) => {
    const health = await watchHealth(server);
    expect((await run(command)).call).toMatchObject({ status: 'ok' });
    await health.assertHealthy();
  });

  it('F15: whose child holds the output does not hold up its call', async () => {
    const health = await watchHealth(server);
    const { text, tookMs } = await run('sleep 20 & echo hi');
    expect(text).toMatch(/^hi\n/);
    expect(tookMs).toBeLessThan(LATE_MS);
    await health.assertHealthy();
  });

  it('F19: that forks two hundred times leaves none of them', async () => {
    const health = await watchHealth(server);
    const { call, tookMs } = await run('for i in $(seq 200); do sleep 60 & done; echo forked');
    expect(call).toMatchObject({ status: 'ok' });
    expect(tookMs).toBeLessThan(5_000);
    await health.assertHealthy();
  });

  it('F19: that forks while it is killed leaves none either', async () => {
    const health = await watchHealth(server);
    const storm = 'trap "" TERM; while :; do (setsid sleep 60 &); sleep 0.01; done';
    expect((await run(storm, { timeout: 300 })).call).toMatchObject({ error_code: 'timeout' });
    await health.assertHealthy();
  });

  it('F22: sees no secret of the server in its own and its parent’s environment', async () => {
    const health = await watchHealth(server, { canaries: [CANARY] });
    const { text } = await run("env; tr '\\0' '\\n' </proc/$PPID/environ; echo read");
    expect(text).toContain('PATH=');
    expect(text).toContain('\nread');
    expect(text).not.toMatch(/NODE_OPTIONS|GAUNTLET_TOKEN|API_KEY|AWS_/);
    await health.assertHealthy();
  });
});

/** No half of a character stands alone in it. */
const isWhole = (text: string) => Buffer.from(text).toString() === text;

describe('an output', () => {
  /** Frames a second that a reader may be sent of one call, and the first and last beside them. */
  const mostProgress = (tookMs: number) => Math.ceil(tookMs / 100) + 3;

  it.each([
    ['F16: of yes', 'yes'],
    ['F17: of a hundred million bytes in one line', "head -c 100000000 /dev/zero | tr '\\0' a"],
  ])('%s ends at the limit, in bounded memory and few frames', async (_what, command) => {
    const health = await watchHealth(server, { memoryMiB: 64 });
    const { sessionId, call, text, tookMs } = await run(command);
    expect(call).toMatchObject({ status: 'error', error_code: 'output_limit', spilled: { path: expect.any(String) } });
    expect(text.length).toBeLessThan(30_000);
    expect(statSync(call?.spilled?.path ?? '').size).toBe(DEFAULT_LIMITS.spillBytes);
    const progress = (await client.frames(sessionId)).filter(({ type }) => type === 'progress');
    expect(progress.length).toBeLessThan(mostProgress(tookMs));
    await health.assertHealthy();
  });

  it('F18: of bytes that are no text is whole characters on the wire', async () => {
    const health = await watchHealth(server);
    const sessionId = await client.session({ mode: 'bypassPermissions' });
    const stream = await client.stream(sessionId, { from_seq: 0 });
    const command =
      "printf '\\xff\\xfe\\x00'; printf '\\xc3'; sleep 0.15; printf '\\xa9\\xf0\\x9f'; sleep 0.15; printf '\\x98\\x80'";
    stream.send({ type: 'tool_use', tool_use: block('Bash', { command }) });
    const { tool_result } = await stream.next('result');
    expect((tool_result as { content: string }).content).toBe('\ufffd\ufffd\0é😀');
    for (const frame of stream.frames) expect(isWhole(JSON.stringify(frame))).toBe(true);
    await stream.close();
    expect((await stream.closed).code).not.toBe(1007);
    await health.assertHealthy();
  });

  it('F18: too long for its preview is cut between characters and kept byte for byte', async () => {
    const health = await watchHealth(server);
    const command = `for i in $(seq 500); do printf '%s' '${'😀'.repeat(100)}'; done`;
    const { text, call } = await run(`printf a; ${command}`);
    expect(isWhole(text)).toBe(true);
    const kept = readFileSync(call?.spilled?.path ?? '');
    expect(kept.equals(Buffer.from(`a${'😀'.repeat(50_000)}`))).toBe(true);
    const page = (await client.get(`${call?.spilled?.url}?offset_chars=0&limit_chars=2`)).body;
    expect(isWhole(String(page['text']))).toBe(true);
    await health.assertHealthy();
  });
});
