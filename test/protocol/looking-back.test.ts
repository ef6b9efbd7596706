/** PROTOCOL 3 and 7: exports, permissions tested against history, undo that is only shown, and who one is. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { startServer, type BuiltServer } from '../helpers/built-server.ts';
import { block, wireClient, type WireClient } from '../helpers/wire-client.ts';

const ANNS_TOKEN = 'token-of-ann-0123456789';

let server: BuiltServer;
let client: WireClient;

beforeAll(async () => {
  const tokenSha256 = createHash('sha256').update(ANNS_TOKEN).digest('hex');
  const limits = { callsAtOnce: 7 };
  server = await startServer({
    settings: { principals: [{ name: 'ann', tokenSha256, roots: [], maxMode: 'acceptEdits', limits }] },
  });
  client = wireClient(server);
});

const bash = (command: string) => block('Bash', { command });

async function download(sessionId: string, format: string) {
  const reply = await client.get(`/sessions/${sessionId}/export?format=${format}`);
  return { type: reply.headers.get('content-type'), name: reply.headers.get('content-disposition'), reply };
}

describe('an export', () => {
  it('is JSON with the session and all its frames', async () => {
    const sessionId = await client.session({ mode: 'bypassPermissions', title: 'To keep' });
    await client.execute(sessionId, [bash('echo one'), bash('echo two')]);
    const { type, name, reply } = await download(sessionId, 'json');
    const { status, body } = reply;
    expect({ status, type, name }).toEqual({
      status: 200,
      type: 'application/json; charset=utf-8',
      name: `attachment; filename="${sessionId}.json"`,
    });
    expect(body).toMatchObject({ session: { session_id: sessionId, title: 'To keep' }, gaps: [] });
    const events = await client.get(`/sessions/${sessionId}/events`);
    expect(body.frames).toEqual(events.body.frames);
  });

  it('is Markdown that no output breaks out of', async () => {
    const sessionId = await client.session({ mode: 'bypassPermissions', title: '# Not <b>markup</b>' });
    const command = `printf '%s\\n' '\`\`\`\`' '# not a heading' '<script>alert(1)</script>'`;
    await client.execute(sessionId, [bash(command), bash('exit 3')]);
    const { type, reply } = await download(sessionId, 'markdown');
    const { text } = reply;
    expect(type).toBe('text/markdown; charset=utf-8');
    expect(text).toContain('# \\# Not \\<b\\>markup\\</b\\>');
    expect(text).toContain('`````\n````\n# not a heading\n<script>alert(1)</script>\n`````');
    expect(text).toMatch(/## Call 2: `Bash`[^]*\*\*Result of call 2\*\* \(error, \w+, \d+ ms\)/);
  });

  it('of another format is refused by name', async () => {
    const sessionId = await client.session();
    expect((await download(sessionId, 'pdf')).reply.body.error.details).toMatchObject({ path: 'format' });
    expect((await download('ses_none', 'json')).reply.status).toBe(404);
  });
});

describe('permissions that are tested', () => {
  it('tell how the latest calls would be decided, and change nothing', async () => {
    const sessionId = await client.session({ rules: { allow: ['Bash(touch:*)'], ask: [], deny: [] } });
    await client.execute(sessionId, [bash('touch a'), bash('mkdir b'), bash('echo c'), block('Nothing', {})]);
    const before = (await client.get(`/sessions/${sessionId}/permissions`)).text;
    const head = (await client.get(`/sessions/${sessionId}`)).body.head;
    const rules = { allow: ['Bash(mkdir:*)'], deny: ['Bash(touch:*)'] };
    const { body } = await client.post(`/sessions/${sessionId}/permissions/test`, { rules });
    expect(body).toMatchObject({ changed: 2, left_out: 1, complete: true });
    expect(body.calls).toMatchObject([
      { text: 'Bash echo c', changed: false },
      { text: 'Bash mkdir b', changed: true, before: { behavior: 'ask' }, after: { behavior: 'allow' } },
      { text: 'Bash touch a', changed: true, before: { behavior: 'allow' }, after: { behavior: 'deny' } },
    ]);
    expect((await client.get(`/sessions/${sessionId}/permissions`)).text).toBe(before);
    expect((await client.get(`/sessions/${sessionId}`)).body.head).toBe(head);
    const one = await client.post(`/sessions/${sessionId}/permissions/test`, { mode: 'plan', limit: 2 });
    expect(one.body.calls).toHaveLength(1);
  });

  it('refuse what the session may not have, by name', async () => {
    const sessionId = await client.session();
    const test = (body: unknown) => client.post(`/sessions/${sessionId}/permissions/test`, body);
    expect((await test({ rules: { allow: ['Bash('] } })).status).toBe(400);
    expect((await test({ mode: 'anything' })).body.error.details).toMatchObject({ path: 'mode' });
    expect((await test({ limit: 501 })).body.error.details).toMatchObject({ path: 'limit' });
  });
});

describe('an undo that is only shown', () => {
  it('tells what it would do, and does it only when it is asked for', async () => {
    const sessionId = await client.session({ mode: 'bypassPermissions' });
    const write = block('Write', { file_path: 'shown.txt', content: 'new\n' });
    await client.execute(sessionId, [write]);
    const undo = (more: object) => client.post(`/sessions/${sessionId}/undo`, { tool_use_id: write.id, ...more });
    const { body: shown } = await undo({ dry_run: true });
    expect(shown).toMatchObject({ dry_run: true, files: [{ kind: 'deleted' }], left: [] });
    expect(readFileSync(join(server.workspace, 'shown.txt'), 'utf8')).toBe('new\n');
    const { body: done } = await undo({});
    expect(done['files']).toEqual(shown['files']);
    expect(existsSync(join(server.workspace, 'shown.txt'))).toBe(false);
  });
});

describe('who one is', () => {
  it('is told with what one may do', async () => {
    expect((await client.get('/principals/self')).body).toMatchObject({
      principal: 'owner',
      may_answer: { own: true, two_person: false },
      limits: { calls_at_once: 0 },
      version: expect.any(String),
    });
    const ann = wireClient({ url: server.url, token: ANNS_TOKEN });
    expect((await ann.get('/principals/self')).body).toMatchObject({
      principal: 'ann',
      roots: [],
      max_mode: 'acceptEdits',
      limits: { calls_at_once: 7 },
    });
  });
});
