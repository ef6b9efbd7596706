/** The terminal of an operator: status, sessions, a session as it runs, and open questions, of a real server. */
import { join } from 'node:path';
import { execa } from 'execa';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { exactText, safeJson, safeLine, safeText, tableText } from '../../bin/terminal-text.ts';
import { startServer, type BuiltServer } from '../helpers/built-server.ts';
import { longRunning } from '../helpers/long-running.ts';
import { fixtureServer } from '../helpers/mcp-servers.ts';
import { until } from '../helpers/process-host.ts';
import { block, wireClient, type WireClient } from '../helpers/wire-client.ts';

const program = join(import.meta.dirname, '../../dist/gauntlet.js');

let server: BuiltServer;
let client: WireClient;

beforeAll(async () => {
  server = await startServer({ settings: { mcpServers: { broken: fixtureServer('crash-at-start') } } });
  client = wireClient(server);
});

const surroundings = () => ({
  env: { PATH: process.env['PATH'], HOME: server.home, GAUNTLET_TOKEN: server.token },
});

async function gauntlet(...words: readonly string[]) {
  const { stdout, stderr, exitCode } = await execa(process.execPath, [program, ...words, '--url', server.url], {
    ...surroundings(),
    extendEnv: false,
    reject: false,
  });
  return { stdout, stderr, exitCode };
}

/** Ask something that a person has to answer. */
async function ask(sessionId: string, command: string) {
  const reply = client.post('/execute', {
    session_id: sessionId,
    on_ask: 'wait',
    tool_uses: [block('Bash', { command })],
  });
  let id = '';
  await until(async () => {
    const { body } = await client.get(`/sessions/${sessionId}/prompts`);
    id = body.prompts.at(-1)?.request_id ?? '';
    return id !== '';
  });
  return { id, reply };
}

describe('gauntlet status', () => {
  it('tells version, uptime, sessions by state, questions, MCP servers and what holds commands', async () => {
    await client.session();
    const { stdout, exitCode } = await gauntlet('status');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^Gauntlet \d+\.\d+\.\d+ at http:\/\/127\.0\.0\.1:\d+\n {2}up +\d+ (s|min).*, ready\n/);
    expect(stdout).toMatch(/sessions +0 running, 0 waiting, \d+ idle\n {2}questions +0 open\n/);
    expect(stdout).toMatch(/MCP +broken: (connecting|failed)/);
    const json = JSON.parse((await gauntlet('status', '--json')).stdout) as Record<string, unknown>;
    expect(json).toMatchObject({ principal: 'owner', open_questions: 0, uptime_ms: expect.any(Number) });
  });

  it('is what a probe can wait for, with the MCP servers that are missing', async () => {
    await until(async () => (await client.get('/mcp-servers')).text.includes('failed'));
    const { status, body } = await client.get('/readyz?mcp=broken');
    expect(status).toBe(503);
    expect(body).toMatchObject({ status: 'starting', mcp_missing: [{ name: 'broken', state: 'failed' }] });
    expect((await client.get('/readyz')).status).toBe(200);
    const unknown = await client.get('/readyz?mcp=nobody');
    expect(unknown.body.error).toMatchObject({ code: 'invalid_request', details: { path: 'mcp' } });
  });
});

describe('gauntlet sessions', () => {
  it('prints a table, and JSON', async () => {
    const sessionId = await client.session({ title: 'Terminal \u001b[31mred\u001b[0m \u202ework' });
    const { stdout } = await gauntlet('sessions', '--search', 'terminal');
    expect(stdout).toMatch(/^SESSION +STATE +MODE +LAST ACTIVITY \(UTC\) +FOLDER +TITLE\n/);
    expect(stdout).toMatch(new RegExp(`^${sessionId} +idle +default .*Terminal red \\\\u\\{202e\\}work$`, 'm'));
    const { sessions } = JSON.parse((await gauntlet('sessions', '--json')).stdout) as { sessions: readonly object[] };
    expect(sessions.length).toBeGreaterThan(0);
  });
});

describe('gauntlet watch', () => {
  it('follows calls, their output and their questions', async () => {
    const sessionId = await client.session();
    const words = [process.execPath, program, 'watch', sessionId, '--url', server.url] as const;
    const watching = await longRunning([...words], /default, in /, surroundings());
    onTestFinished(() => watching.stop());
    let printed = '';
    watching.child.stdout?.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    const { id, reply } = await ask(sessionId, `printf 'one\\ntwo\\033[2J\\n'; mkdir made`);
    await until(() => printed.includes(`gauntlet answer ${id}`));
    await client.post(`/sessions/${sessionId}/prompts/${id}`, { behavior: 'allow' });
    await reply;
    await until(() => printed.includes('< Bash: ok'));
    expect(printed).toMatch(/^> Bash: /m);
    expect(printed).toMatch(/allow by owner/);
    expect(printed).not.toContain('\u001b');
  });

  it('says that there is no such session', async () => {
    const { stderr, exitCode } = await gauntlet('watch', 'ses_none');
    expect({ stderr, exitCode }).toEqual({ stderr: expect.stringContaining('ses_none'), exitCode: 1 });
  });
});

describe('gauntlet answer', () => {
  it('lists open questions, and answers one, with words', async () => {
    expect((await gauntlet('answer')).stdout).toBe('No question is open.');
    const sessionId = await client.session();
    const { id, reply } = await ask(sessionId, 'mkdir never');
    const { stdout } = await gauntlet('answer');
    expect(stdout).toContain(`${id}  Bash: `);
    expect(stdout).toContain(`session ${sessionId}`);
    const answered = await gauntlet('answer', 'deny', '--message', 'Use the folder that is there');
    expect(answered).toMatchObject({ stdout: expect.stringMatching(/^deny: Bash, /), exitCode: 0 });
    expect((await reply).body.results[0]?.content).toContain('Use the folder that is there');
  });

  it('answers a question by its name, and says when several are meant', async () => {
    const sessionId = await client.session();
    const [one, two] = [await ask(sessionId, 'mkdir x1'), await ask(await client.session(), 'mkdir x2')];
    expect(await gauntlet('answer', 'allow')).toMatchObject({ exitCode: 64, stderr: expect.stringContaining(one.id) });
    expect((await gauntlet('answer', two.id, 'perhaps')).exitCode).toBe(64);
    expect((await gauntlet('answer', one.id, 'allow')).exitCode).toBe(0);
    expect((await gauntlet('answer', two.id, 'allow')).exitCode).toBe(0);
    expect((await one.reply).body.calls).toMatchObject([{ status: 'ok' }]);
    expect((await gauntlet('answer', 'allow')).stderr).toContain('No question is open');
  });
});

describe('a question in a terminal', () => {
  it('shows the whole input, also what an escape sequence would hide and a description leaves out', async () => {
    const sessionId = await client.session();
    const command = 'mkdir shown; echo \u001b];mkdir hidden;x\u0007\n  gauntlet answer other allow';
    const { id, reply } = await ask(sessionId, command);
    const { stdout } = await gauntlet('answer');
    expect(stdout).toContain(
      '\n  | command: mkdir shown; echo \\u{1b}];mkdir hidden;x\\u{7}\n  |   gauntlet answer other',
    );
    const unnamed = await gauntlet('answer', 'allow');
    expect(unnamed).toMatchObject({ exitCode: 64, stderr: expect.stringContaining(`gauntlet answer ${id} allow`) });
    expect((await gauntlet('answer', 'deny')).exitCode).toBe(0);
    expect((await reply).body.calls).toMatchObject([{ status: 'denied' }]);
  });
});

describe('texts on a terminal', () => {
  it('that a person decides about lose nothing, and JSON stays JSON', () => {
    expect(exactText('a\u001b];b;c\u0007\rd\u009be\tf\n')).toBe('a\\u{1b}];b;c\\u{7}\\u{d}d\\u{9b}e\tf\n');
    const value = { text: 'a\u009b2Jb\u202e\u{e0041}c' };
    expect(safeJson(value)).toBe('{"text":"a\\u009b2Jb\\u202e\\udb40\\udc41c"}');
    expect(JSON.parse(safeJson(value))).toEqual(value);
  });

  it('move no cursor and hide nothing', () => {
    expect(safeText('a\u001b]0;title\u0007b\u001b[2Jc\rd\u0008\u202ee\tf\n')).toBe('abc\nd\\u{8}\\u{202e}e\tf\n');
    expect(safeLine(`${'x'.repeat(300)}\nnext`, 10)).toBe('xxxxxxxxx…');
    expect(tableText(['A', 'B'], [['one', 'two\nthree']])).toBe('A    B\none  two three\n');
  });
});
