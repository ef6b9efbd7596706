/** PROTOCOL 2: the tool list. */
import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { sharedServer } from '../helpers/shared-workspace.ts';
import { wireClient, type WireBody, type WireClient, type WireTool } from '../helpers/wire-client.ts';

let client: WireClient;

beforeAll(async () => {
  client = wireClient(await sharedServer());
});

const list = async (query = ''): Promise<WireBody> => (await client.get(`/tools${query}`)).body;
const names = ({ tools }: WireBody): string[] => tools.map(({ name }) => name);

describe('the tool list', () => {
  it('counts, sorts by code unit, and holds each name once', async () => {
    const body = await list();
    const builtIn = names(body).slice(0, body.built_in_count);
    expect(builtIn).toEqual([...builtIn].sort());
    expect(new Set(names(body)).size).toBe(body.tools.length);
    expect(body).toMatchObject({
      mcp_count: body.tools.length - body.built_in_count,
      deferred_count: expect.any(Number),
    });
    expect(body['deferred_count']).toBe(body.tools.filter((tool) => tool['defer_loading'] === true).length);
    expect(builtIn).toEqual(expect.arrayContaining(['Bash', 'Edit', 'Glob', 'Grep', 'Read', 'TodoWrite', 'Write']));
  });

  it('has a digest over the bytes of the built-in prefix', async () => {
    const { text, body } = await client.get('/tools');
    const prefix = body.tools.slice(0, body.built_in_count).map((tool) => JSON.stringify(tool));
    expect(text).toContain(prefix.join(','));
    const candidates = [prefix.join(','), `[${prefix.join(',')}]`].map((bytes) =>
      createHash('sha256').update(bytes).digest('hex'),
    );
    expect(candidates).toContain(body['prefix_sha256']);
  });

  it('has definitions the Messages API takes', async () => {
    for (const tool of (await list()).tools) {
      const { input_schema: schema, description } = tool as WireTool & { input_schema: object; description: string };
      expect(description.length).toBeGreaterThan(0);
      expect(schema).toMatchObject({ type: 'object', properties: expect.any(Object) });
      expect(Object.keys(tool).sort()).toEqual(['description', 'input_schema', 'name']);
    }
  });

  it('gives names only, or every schema, when asked', async () => {
    const none = await list('?schemas=none');
    for (const tool of none.tools) expect(tool).not.toHaveProperty('input_schema');
    expect(names(none)).toEqual(names(await list()));
    for (const tool of (await list('?schemas=full')).tools) expect(tool).toHaveProperty('input_schema.type', 'object');
  });

  it('is the same bytes every time, and 304 to who has them', async () => {
    const [first, second] = [await client.get('/tools'), await client.get('/tools')];
    expect(second.text).toBe(first.text);
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^(W\/)?"[^"]+"$/);
    const again = await client.get('/tools', { headers: { 'if-none-match': etag } });
    expect({ status: again.status, text: again.text }).toEqual({ status: 304, text: '' });
    const weak = await client.get('/tools', { headers: { 'if-none-match': `"other", W/${etag.replace('W/', '')}` } });
    expect(weak.status).toBe(304);
    expect((await client.get('/tools?schemas=none', { headers: { 'if-none-match': etag } })).status).toBe(200);
  });
});

describe('HEAD', () => {
  it('answers as GET does, without the body', async () => {
    const [head, get] = [await client.send('HEAD', '/tools'), await client.get('/tools')];
    expect({ status: head.status, text: head.text }).toEqual({ status: 200, text: '' });
    expect(head.headers.get('etag')).toBe(get.headers.get('etag'));
  });
});

describe('a format', () => {
  it('for OpenAI Chat is functions with parameters', async () => {
    const { tools } = await list('?format=openai-chat');
    expect(tools).not.toHaveLength(0);
    for (const tool of tools) {
      expect(tool).toMatchObject({
        type: 'function',
        function: { name: expect.any(String), description: expect.any(String), parameters: { type: 'object' } },
      });
    }
  });

  it('for OpenAI Responses is flat functions', async () => {
    for (const tool of (await list('?format=openai-responses')).tools) {
      expect(tool).toMatchObject({ type: 'function', name: expect.any(String), parameters: { type: 'object' } });
    }
  });

  it('for MCP has inputSchema', async () => {
    for (const tool of (await list('?format=mcp')).tools) {
      expect(tool).toMatchObject({ name: expect.any(String), inputSchema: { type: 'object' } });
    }
  });

  it('in full tells where a tool is from and what it promises', async () => {
    const { tools } = await list('?format=full');
    const read = tools.find(({ name }) => name === 'Read');
    expect(read).toMatchObject({
      source: expect.any(String),
      aliases: ['FileRead'],
      annotations: expect.any(Object),
      search_hint: expect.any(String),
      state: expect.anything(),
    });
    for (const tool of tools) expect(tool).toHaveProperty('max_result_size_chars');
  });

  it('as a table is text with a line a tool', async () => {
    const { text, headers } = await client.get('/tools?format=table');
    expect(headers.get('content-type')).toMatch(/^text\/plain/);
    const body = await list();
    for (const name of names(body)) expect(text).toMatch(new RegExp(`^${name}\\b`, 'm'));
  });

  it.each(['?format=yaml', '?schemas=some', '?mode=loud', '?session_id=a/b'])(
    'that is none is refused: %s',
    async (query) => {
      const { status, body } = await client.get(`/tools${query}`);
      expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'invalid_request' });
    },
  );
});

describe('the tools of a session', () => {
  it('leave out what its rules deny, and only there', async () => {
    const sessionId = await client.session({ rules: { deny: ['Bash', 'Read(./secret/**)'] } });
    const seen = names(await list(`?session_id=${sessionId}`));
    expect(seen).not.toContain('Bash');
    expect(seen).toContain('Read');
    expect(names(await list())).toContain('Bash');
  });

  it('are three in simple mode', async () => {
    const sessionId = await client.session({ tool_mode: 'simple' });
    expect(names(await list(`?session_id=${sessionId}`))).toEqual(['Bash', 'Edit', 'Read']);
    expect(names(await list('?mode=simple'))).toEqual(['Bash', 'Edit', 'Read']);
  });

  it('of a session that is not there are not found', async () => {
    expect((await client.get('/tools?session_id=ses_none')).status).toBe(404);
  });

  it('are no other when an alias is denied', async () => {
    const sessionId = await client.session({ rules: { deny: ['FileRead'] } });
    expect(names(await list(`?session_id=${sessionId}`))).not.toContain('Read');
  });
});

describe('one tool', () => {
  it('is given in full', async () => {
    const { status, body } = await client.get('/tools/Read');
    expect(status).toBe(200);
    expect(body).toMatchObject({ name: 'Read', input_schema: { required: ['file_path'] } });
  });

  it('that is not there is not found', async () => {
    expect((await client.get('/tools/Nothing')).body.error.code).toBe('not_found');
  });
});
