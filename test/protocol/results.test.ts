/** PROTOCOL 4: long results, where they go, and who may read them. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { sharedWorkspace } from '../helpers/shared-workspace.ts';
import { block, type WireClient } from '../helpers/wire-client.ts';

let client: WireClient;
let folder: string;

beforeAll(async () => {
  ({ client, folder } = await sharedWorkspace('results'));
  writeFileSync(join(folder, 'long.txt'), `${'a line of text that is long enough\n'.repeat(1_500)}the end\n`);
});

const LONE_SURROGATE = /\p{Cs}/u;
const LONG = 'seq 1 20000; echo the-end';
const longText = [...Array.from({ length: 20_000 }, (_line, index) => index + 1), 'the-end'].join('\n');

/** A session in which a result was spilled. */
async function spilled() {
  const sessionId = await client.session({ cwd: folder, mode: 'dontAsk' });
  const { results, calls } = await client.execute(sessionId, [block('Bash', { command: LONG })]);
  return { sessionId, content: results[0]?.content ?? '', call: calls[0], spill: calls[0]?.spilled };
}

describe('a result over its limit', () => {
  it('is a preview, the size, and a path', async () => {
    const { content, call, spill } = await spilled();
    expect(call).toMatchObject({ status: 'ok' });
    expect(spill).toMatchObject({ chars: longText.length, path: expect.any(String), url: expect.any(String) });
    expect(content).toContain(spill?.path);
    expect(content).toMatch(/^1\n2\n3\n|\n1\n2\n3\n/);
    expect(content.length).toBeLessThan(4_000);
    expect(content).not.toMatch(LONE_SURROGATE);
  });

  it('shows the beginning and the end of a command that failed, and how much is left out', async () => {
    const sessionId = await client.session({ cwd: folder, mode: 'default', rules: { allow: ['Bash'] } });
    const command = 'echo the-start; seq 1 20000; echo the-cause >&2; exit 3';
    const { results, calls } = await client.execute(sessionId, [block('Bash', { command })]);
    const content = results[0]?.content ?? '';
    expect(calls[0]).toMatchObject({ status: 'error', error_code: 'tool_failed' });
    expect(content).toContain('Exit code 3\nthe-start\n1\n2\n');
    expect(content).toMatch(/\n\[\d+ of \d+ characters left out\]\n/);
    expect(content).toMatch(/\n20000\nthe-cause$/);
    expect(content).toContain(calls[0]?.spilled?.path);
    expect(content.length).toBeLessThan(4_000);
  });

  it('is read whole by its URL, in pages that join', async () => {
    const { sessionId, call, spill } = await spilled();
    const url = new URL(spill?.url ?? '', client.url);
    expect(url.pathname).toBe(`/sessions/${sessionId}/results/${call?.tool_use_id}`);
    let text = '';
    for (let offset: unknown = 0; typeof offset === 'number';) {
      const { body } = await client.get(`${url.pathname}?offset_chars=${offset}&limit_chars=40000`);
      expect(body).toMatchObject({ total_chars: longText.length, offset_chars: offset });
      text += String(body['text']);
      offset = body['next_offset_chars'];
    }
    expect(text).toBe(longText);
  });

  it('is opened by Read and Grep of the same session without asking', async () => {
    const { sessionId, spill } = await spilled();
    const { calls, results } = await client.execute(sessionId, [
      block('Read', { file_path: spill?.path, offset: 19_999, limit: 3 }),
      block('Grep', { pattern: 'the-end', path: spill?.path, output_mode: 'content' }),
    ]);
    expect(calls.map(({ status }) => status)).toEqual(['ok', 'ok']);
    for (const { content } of results) expect(content).toContain('the-end');
  });

  it('is opened by nothing of another session, in any mode', async () => {
    const { spill } = await spilled();
    for (const mode of ['default', 'bypassPermissions']) {
      const other = await client.session({ cwd: folder, mode, on_ask: 'deny', rules: { allow: ['Read', 'Grep'] } });
      const { calls, results } = await client.execute(other, [
        block('Read', { file_path: spill?.path }),
        block('Grep', { pattern: 'the-end', path: spill?.path, output_mode: 'content' }),
      ]);
      for (const { status } of calls) expect(status, mode).not.toBe('ok');
      for (const { content } of results) expect(content).not.toContain('the-end');
    }
  });

  it('is gone with its session', async () => {
    const { sessionId, spill } = await spilled();
    await client.send('DELETE', `/sessions/${sessionId}`);
    expect((await client.get(new URL(spill?.url ?? '', client.url).pathname)).status).toBe(404);
  });
});

describe('the results of one turn', () => {
  it('stay under 200,000 characters together, in the reply and in every replay', async () => {
    const sessionId = await client.session({ cwd: folder, mode: 'bypassPermissions' });
    const calls = Array.from({ length: 10 }, (_call, n) =>
      block('Bash', { command: `seq ${n}000000 1 ${n}004200 | head -c 29000` }),
    );
    const { results, calls: told } = await client.execute(sessionId, calls);
    const chars = results.reduce((sum, { content }) => sum + content.length, 0);
    expect(chars).toBeLessThanOrEqual(200_000);
    expect(told.some(({ spilled: spill }) => spill !== undefined)).toBe(true);
    expect(told[0]).not.toHaveProperty('spilled');
    expect((await client.execute(sessionId, calls)).results).toEqual(results);
  });

  it('cut Read to a page instead of spilling it', async () => {
    const sessionId = await client.session({ cwd: folder });
    const reads = Array.from({ length: 5 }, () => block('Read', { file_path: 'long.txt' }));
    const { results, calls } = await client.execute(sessionId, reads);
    expect(results.reduce((sum, { content }) => sum + content.length, 0)).toBeLessThanOrEqual(200_000);
    for (const call of calls) expect(call).toMatchObject({ status: 'ok' });
    for (const call of calls) expect(call).not.toHaveProperty('spilled');
    expect(results.at(-1)?.content).toMatch(/PARTIAL/);
  });
});

describe('output that is no text', () => {
  it('is valid text all the same, cut nowhere inside a character', async () => {
    const sessionId = await client.session({ cwd: folder, mode: 'bypassPermissions' });
    const commands = [
      `printf '\\xff\\xfe\\x00a'`,
      `printf '\\xc3'; sleep 0.05; printf '\\xa9'`,
      `yes 😀 | head -30000`,
    ];
    for (const command of commands) {
      const { results, calls } = await client.execute(sessionId, [block('Bash', { command })]);
      expect(calls[0]).toMatchObject({ status: 'ok' });
      expect(results[0]?.content).not.toMatch(LONE_SURROGATE);
      if (command.includes('xc3')) expect(results[0]?.content).toBe('é');
    }
  });
});

describe('what people see of a call', () => {
  it('says what it does, belongs to a group, and has a result in a line', async () => {
    const sessionId = await client.session({ cwd: folder });
    await client.execute(sessionId, [block('Read', { file_path: 'long.txt', limit: 1 })]);
    const frames = await client.frames(sessionId);
    expect(frames.find(({ type }) => type === 'tool_use')).toMatchObject({
      activity: 'Reading long.txt',
      display: { group: { key: 'read', title: 'Read files' } },
    });
    expect(frames.find(({ type }) => type === 'result')).toMatchObject({
      condensed: { blocks: [] },
      call: { truncated: true },
    });
  });

  it('claims nothing to be left out of a whole result', async () => {
    const { session_id } = await client.execute(undefined, [block('Bash', { command: 'echo hi' })]);
    const frames = await client.frames(session_id);
    expect(frames.find(({ type }) => type === 'result')?.['call']).not.toHaveProperty('truncated');
  });
});
