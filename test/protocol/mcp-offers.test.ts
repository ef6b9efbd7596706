/** PROTOCOL 2 and 9: what MCP servers offer beside tools, as clients of this server meet it. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type BuiltServer, startServer } from '../helpers/built-server.ts';
import { offeringServer } from '../helpers/mcp-servers.ts';
import { block, until, wireClient, type WireClient } from '../helpers/wire-client.ts';

const REVIEW = 'mcp__notes__review';

let server: BuiltServer;
let client: WireClient;

beforeAll(async () => {
  server = await startServer({
    mayKeep: ['mcp-offers.mjs'],
    settings: {
      permissions: { allow: ['mcp__notes__touch', 'mcp__notes__publish'] },
      mcpServers: { notes: offeringServer(), quiet: offeringServer('silent') },
    },
  });
  client = wireClient(server);
  await until(async () => String((await client.get('/tools')).body['preamble']).includes(REVIEW));
});

const run = async (session: string, name: string, input: object) => {
  const { results, calls } = await client.execute(session, [block(name, input)]);
  return { content: results[0]?.content ?? '', call: calls[0] };
};
const allowing = (...allow: string[]) => client.session({ rules: { allow }, on_ask: 'deny' });
const preamble = async (query: string) => (await client.get(`/tools${query}`)).body['preamble'];

describe('the preamble of a list', () => {
  it('has the instructions of each server under its name, and the skills that it offers', async () => {
    expect(await preamble('?format=openai-chat')).toBe(
      [
        'The MCP server "notes" says of its use:\n> Use notes\\u{200b} sparingly.\n> Always.',
        'The MCP server "quiet" says of its use:\n> Use notes\\u{200b} sparingly.\n> Always.',
        [
          'Skills of MCP servers, to load with Skill:',
          '- mcp__notes__dialogue: dialogue',
          '- mcp__notes__empty: empty',
          '- mcp__notes__explain topic: explain',
          '- mcp__notes__odd: odd',
          '- mcp__notes__picture: picture',
          '- mcp__notes__review change [style]: Reviews a change with care',
          '- mcp__notes__standup: Sums up\\u{202e} the day',
        ].join('\n'),
      ].join('\n\n'),
    );
  });

  it('has nothing of a server that a rule hides, or that a session cannot reach', async () => {
    const without = await client.session({ rules: { deny: ['mcp__notes'] } });
    expect(await preamble(`?session_id=${without}`)).not.toContain('"notes"');
    expect(await preamble(`?session_id=${without}`)).not.toContain('mcp__notes');
    const bare = await client.session({ tools: ['Read', 'mcp__quiet'] });
    expect(await preamble(`?session_id=${bare}`)).toMatch(/^The MCP server "quiet"[^]*Always\.$/);
    expect(await preamble('?mode=simple')).toBeUndefined();
  });

  it('leaves the built-in part of the list as it is', async () => {
    const { body } = await client.get('/tools');
    const skill = body.tools.find(({ name }) => name === 'Skill');
    expect(skill?.['description']).not.toContain('mcp__');
  });
});

describe('a prompt of an MCP server', () => {
  it('is loaded as a skill, with arguments in its text', async () => {
    const { content, call } = await run(await allowing(`Skill(${REVIEW})`), 'Skill', {
      skill: REVIEW,
      args: 'change=the last one style="short"',
    });
    expect(call?.status).toBe('ok');
    expect(content).toBe(
      `Skill "${REVIEW}", a prompt of the MCP server "notes".\n\nreview {"change":"the last one","style":"short"}`,
    );
  });

  it('is asked about until a rule allows it, and denied by a rule for it', async () => {
    const asking = await run(await client.session({ on_ask: 'deny' }), 'Skill', { skill: 'mcp__notes__standup' });
    expect(asking.call).toMatchObject({ status: 'denied', error_code: 'permission_denied' });
    const session = await client.session({ rules: { allow: ['Skill'], deny: ['Skill(mcp__notes__standup)'] } });
    const denied = await run(session, 'Skill', { skill: 'mcp__notes__standup' });
    expect(denied.content).toContain('Denied by rule "Skill(mcp__notes__standup)"');
  });

  it('is not there where a rule hides its server', async () => {
    const session = await client.session({ rules: { allow: ['Skill'], deny: ['mcp__notes'] } });
    const { content, call } = await run(session, 'Skill', { skill: REVIEW, args: 'change=1' });
    expect(call?.error_code).toBe('invalid_input');
    expect(content).toContain('not available (deny rule: "mcp__notes")');
    expect((await run(session, 'ToolSearch', { query: 'review change' })).content).not.toContain(REVIEW);
  });

  it('without a required argument is refused with its name', async () => {
    const { content, call } = await run(await allowing('Skill'), 'Skill', { skill: REVIEW, args: 'style=short' });
    expect(call?.error_code).toBe('invalid_input');
    expect(content).toContain('needs the argument "change"');
  });

  it('shows its images', async () => {
    const { content } = await run(await allowing('Skill(mcp__notes__:*)'), 'Skill', { skill: 'mcp__notes__picture' });
    expect((content as unknown as { type: string }[]).map(({ type }) => type)).toEqual(['text', 'image', 'text']);
  });

  it('is found by ToolSearch', async () => {
    const { content } = await run(await client.session(), 'ToolSearch', { query: 'review with care' });
    expect(content).toBe(`Skills, to load with Skill:\n- ${REVIEW} change [style]: Reviews a change with care`);
  });
});

describe('resources of MCP servers', () => {
  it('are listed with the templates, and one of a template is read', async () => {
    const session = await allowing('ListMcpResourcesTool', 'ReadMcpResourceTool');
    const { content } = await run(session, 'ListMcpResourcesTool', { server: 'notes' });
    expect(
      String(content)
        .split('\n')
        .map((line): unknown => JSON.parse(line)),
    ).toEqual([
      { server: 'notes', uri: 'notes://one', name: 'one' },
      {
        server: 'notes',
        uriTemplate: 'notes://{id}',
        name: 'A note',
        description: 'By its\\u{200b} id',
        mimeType: 'text/plain',
      },
    ]);
    const read = await run(session, 'ReadMcpResourceTool', { server: 'notes', uri: 'notes://seven' });
    expect(JSON.stringify(read.content)).toContain('content of notes://seven');
  });

  it('of a hidden server are not there', async () => {
    const rules = { allow: ['ListMcpResourcesTool', 'ReadMcpResourceTool'], deny: ['mcp__notes', 'mcp__quiet'] };
    const session = await client.session({ rules });
    expect((await run(session, 'ListMcpResourcesTool', {})).content).toBe('No connected MCP server offers resources');
    const { content } = await run(session, 'ReadMcpResourceTool', { server: 'notes', uri: 'notes://one' });
    expect(content).toContain('not available (deny rule: "mcp__notes")');
  });
});

describe('a resource that a session has read', () => {
  it('is watched: a change is a notice, and many changes are few', async () => {
    const session = await allowing('ReadMcpResourceTool', 'mcp__notes');
    await run(session, 'ReadMcpResourceTool', { server: 'notes', uri: 'notes://watched' });
    await run(session, 'mcp__notes__touch', { uri: 'notes://watched', times: 500 });
    const notices = async () =>
      (await client.frames(session)).filter(({ type, code }) => type === 'notice' && code === 'mcp_resource_updated');
    await until(async () => (await notices()).length > 0);
    await run(session, 'mcp__notes__touch', { uri: 'notes://watched', times: 500 });
    expect(await notices()).toMatchObject([
      { message: 'MCP server "notes": the resource notes://watched has changed since it was read' },
    ]);
  });

  it('is no longer subscribed to when the session is removed', async () => {
    const session = await allowing('ReadMcpResourceTool');
    const uri = 'notes://removed';
    await run(session, 'ReadMcpResourceTool', { server: 'notes', uri });
    await until(async () => (await requests()).includes(`resources/subscribe ${uri}`));
    await client.send('DELETE', `/sessions/${session}`);
    await until(async () => (await requests()).includes(`resources/unsubscribe ${uri}`));
  });
});

describe.each([
  ['2025-11-25', 'legacy'],
  ['2026-07-28', 'auto'],
] as const)('a client of /mcp in %s', (_revision, mode) => {
  async function connect(session: string) {
    const mcp = await mcpClient(`/mcp?session_id=${session}`, mode);
    const base = `gauntlet://sessions/${session}/servers/notes`;
    return { mcp, base };
  }

  it('reads what servers say of their use', async () => {
    const { mcp } = await connect(await client.session());
    expect(mcp.getInstructions()).toContain('The MCP server "notes" says of its use:\n> Use notes');
    const hidden = await connect(await client.session({ rules: { deny: ['mcp__notes'] } }));
    expect(hidden.mcp.getInstructions()).not.toContain('"notes"');
  });

  it('lists and gets prompts of servers, with their arguments', async () => {
    const { mcp } = await connect(await allowing('Skill'));
    const { prompts } = await mcp.listPrompts();
    expect(prompts.map(({ name }) => name)).toContain('mcp__notes__standup');
    expect(prompts.find(({ name }) => name === REVIEW)).toEqual({
      name: REVIEW,
      title: 'Review a change',
      description: 'Reviews a change with care',
      arguments: [
        { name: 'change', description: 'What to review', required: true },
        { name: 'style', required: false },
      ],
    });
    const got = await mcp.getPrompt({ name: REVIEW, arguments: { change: 'a style=b "c"' } });
    expect(JSON.stringify(got.messages)).toContain(
      JSON.stringify(JSON.stringify({ change: 'a style=b "c"' })).slice(1, -1),
    );
    await expect(mcp.getPrompt({ name: REVIEW })).rejects.toThrow('needs the argument "change"');
  });

  it('lists and reads resources and templates of servers', async () => {
    const { mcp, base } = await connect(
      await client.session({ rules: { allow: ['ReadMcpResourceTool'], deny: ['mcp__quiet'] } }),
    );
    const { resources } = await mcp.listResources();
    expect(resources).toContainEqual({ uri: `${base}/notes://one`, name: 'one' });
    const { resourceTemplates } = await mcp.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toContain(`${base}/notes://{id}`);
    const { contents } = await mcp.readResource({ uri: `${base}/notes://seven` });
    expect(contents).toEqual([
      { uri: `${base}/notes://seven`, mimeType: 'text/plain', text: 'content of notes://seven' },
    ]);
  });

  it('is told when the resources of a server change, and finds the new one', async () => {
    const session = await client.session({ rules: { deny: ['mcp__quiet'] } });
    const { mcp } = await connect(session);
    let changes = 0;
    mcp.setNotificationHandler('notifications/resources/list_changed', () => void (changes += 1));
    if (mode === 'auto') await listen(mcp, { resourcesListChanged: true });
    const count = async () => (await mcp.listResources()).resources.length;
    const before = await count();
    await until(async () => {
      await run(session, 'mcp__notes__publish', {});
      return changes > 0;
    });
    expect(await count()).toBeGreaterThan(before);
  });

  it('waits for a server that lists nothing in time once', async () => {
    const { mcp } = await connect(await client.session());
    await mcp.listResources();
    const beganMs = performance.now();
    const { resources } = await mcp.listResources();
    expect(resources.length).toBeGreaterThan(0);
    expect(performance.now() - beganMs).toBeLessThan(1_500);
  });

  it('completes arguments of prompts and templates of servers', async () => {
    const { mcp, base } = await connect(await client.session());
    const argument = { name: 'change', value: '4' };
    const ofPrompt = await mcp.complete({ ref: { type: 'ref/prompt', name: REVIEW }, argument });
    expect(ofPrompt.completion).toMatchObject({ hasMore: true });
    expect(ofPrompt.completion.values).toHaveLength(100);
    expect(ofPrompt.completion.values[0]).toBe('review-change-0');
    const id = { name: 'id', value: 't' };
    const ofTemplate = await mcp.complete({ ref: { type: 'ref/resource', uri: `${base}/notes://{id}` }, argument: id });
    expect(ofTemplate.completion.values).toEqual(['two']);
    const unknown = await mcp.complete({ ref: { type: 'ref/prompt', name: 'mcp__other__x' }, argument });
    expect(unknown.completion.values).toEqual([]);
  });

  it('is told of changes of the resources that it subscribed to, and of no others', async () => {
    const { mcp, base } = await connect(await client.session());
    const [mine, other] = [`notes://${mode}-mine`, `notes://${mode}-other`];
    const updated = updatesOf(mcp);
    const wanted = { resourceSubscriptions: [`${base}/${mine}`] };
    const stop = mode === 'legacy' ? await subscribe(mcp, `${base}/${mine}`) : await listen(mcp, wanted);
    // Somebody else is told of the other one.
    await run(await allowing('ReadMcpResourceTool'), 'ReadMcpResourceTool', { server: 'notes', uri: other });
    const touching = await allowing('mcp__notes');
    await run(touching, 'mcp__notes__touch', { uri: other });
    await until(async () => {
      await run(touching, 'mcp__notes__touch', { uri: mine });
      return updated.length > 0;
    });
    expect(updated).toEqual(updated.map(() => `${base}/${mine}`));
    await stop();
    await until(async () => (await requests()).includes(`resources/unsubscribe ${mine}`));
  });
});

describe('a server that is passed through', () => {
  const path = '/mcp/servers/notes';

  it('tells a client of 2026-07-28 of the resources that it listens for, and is told when nobody does', async () => {
    const mcp = await mcpClient(path, 'auto');
    const [mine, other] = ['notes://passed-mine', 'notes://passed-other'];
    const updated = updatesOf(mcp);
    const stop = await listen(mcp, { resourceSubscriptions: [mine] });
    await until(async () => (await requests()).includes(`resources/subscribe ${mine}`));
    const touching = await client.session();
    await run(touching, 'mcp__notes__touch', { uri: other });
    await run(touching, 'mcp__notes__touch', { uri: mine });
    await until(() => Promise.resolve(updated.length > 0));
    expect(updated).toEqual([mine]);
    await stop();
    await until(async () => (await requests()).includes(`resources/unsubscribe ${mine}`));
  });

  it('tells a client of 2025-11-25 what its own connection is told', async () => {
    const [one, two] = [await mcpClient(path, 'legacy'), await mcpClient(path, 'legacy')];
    const [ofOne, ofTwo] = [updatesOf(one), updatesOf(two)];
    await one.subscribeResource({ uri: 'notes://own' });
    await two.callTool({ name: 'touch', arguments: { uri: 'notes://two' } });
    await one.callTool({ name: 'touch', arguments: { uri: 'notes://own' } });
    await until(() => Promise.resolve(ofOne.length > 0 && ofTwo.length > 0));
    expect([ofOne, ofTwo]).toEqual([['notes://own'], ['notes://two']]);
  });
});

async function mcpClient(path: string, mode: 'legacy' | 'auto'): Promise<Client> {
  const mcp = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const requestInit = { headers: { authorization: `Bearer ${server.token}` } };
  await mcp.connect(new StreamableHTTPClientTransport(new URL(`${server.url}${path}`), { requestInit }));
  onTestFinished(() => mcp.close());
  return mcp;
}

/** The addresses that a client is told of. */
function updatesOf(mcp: Client): readonly string[] {
  const updated: string[] = [];
  mcp.setNotificationHandler('notifications/resources/updated', ({ params }) => void updated.push(params.uri));
  return updated;
}

async function subscribe(mcp: Client, uri: string): Promise<() => Promise<unknown>> {
  await mcp.subscribeResource({ uri });
  return () => mcp.unsubscribeResource({ uri });
}

async function listen(mcp: Client, filter: Parameters<Client['listen']>[0]): Promise<() => Promise<unknown>> {
  const { close } = await mcp.listen(filter);
  return close;
}

/** The requests that the server received. */
async function requests(): Promise<readonly string[]> {
  const { content } = await run(await allowing('mcp__notes'), 'mcp__notes__asked', {});
  const asked = JSON.parse(String(content)) as { method: string; uri?: string }[];
  return asked.map(({ method, uri }) => `${method} ${uri}`);
}
