/** The offer of servers beside tools: their instructions and prompts. */
import { describe, expect, test } from 'vitest';
import { callTool, eventually, offeringServer, packageServer, startServers } from '../../helpers/mcp-servers.ts';

const signal = AbortSignal.timeout(60_000);

/** Start a server, and wait for its prompts. */
async function started(...moods: string[]) {
  const servers = startServers({ notes: offeringServer(...moods) });
  const offer = await eventually(() => servers.offers().find(({ prompts }) => prompts.length > 0));
  const get = (sentName: string, args = {}) => {
    const prompt = servers.offers()[0]?.prompts.find((one) => one.sentName === sentName);
    if (!prompt) throw new Error(`No prompt "${sentName}"`);
    return servers.getPrompt(prompt, args, signal);
  };
  return { servers, offer, get };
}

describe('the prompts of a server', () => {
  test('are listed by name, and a malformed one takes no other with it', async () => {
    const { servers, offer } = await started();
    expect(offer.prompts.map(({ name }) => name)).toEqual(
      ['dialogue', 'empty', 'explain', 'odd', 'picture', 'review', 'standup'].map((name) => `mcp__notes__${name}`),
    );
    expect(offer.prompts.at(-2)).toMatchObject({
      server: 'notes',
      sentName: 'review',
      title: 'Review a change',
      arguments: [
        { name: 'change', description: 'What to review', required: true },
        { name: 'style', required: false },
      ],
    });
    expect(offer.prompts.at(-1)?.description).toBe('Sums up\\u{202e} the day');
    const notice = servers.notices.find(({ code }) => code === 'mcp_prompts_left_out');
    expect(notice?.message).toContain('"an entry without a name"');
  });

  test('are followed when they change', async () => {
    const { servers } = await started();
    const before = servers.offers();
    await callTool(servers, 'mcp__notes__grow');
    await eventually(() => servers.offers()[0]?.prompts.some(({ sentName }) => sentName === 'late'));
    expect(servers.offers()).not.toBe(before);
  });

  test('are bounded in number', async () => {
    const { servers, offer } = await started('many=10000');
    expect(offer.prompts).toHaveLength(200);
    expect(servers.notices.map(({ message }) => message).join()).toContain('Only the first 200 entries');
  });

  test('become texts, images and embedded resources, with hidden characters made visible', async () => {
    const { get } = await started();
    expect(await get('picture')).toEqual([
      { type: 'text', text: 'Look' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: expect.any(String) } },
      { type: 'text', text: '[resource notes://one]\ninside' },
    ]);
    expect(await get('dialogue')).toEqual(
      ['[user]', 'Why?', '[assistant]', 'Because\\u{200b}.'].map((text) => ({ type: 'text', text })),
    );
    expect(await get('odd')).toEqual(
      [...Array.from({ length: 5 }, () => '[A message that cannot be read]'), 'still here'].map((text) => ({
        type: 'text',
        text,
      })),
    );
    await expect(get('empty')).rejects.toMatchObject({ code: 'tool_failed', message: 'The prompt "empty" is empty' });
  });

  test('hold up nothing where the server never lists them', async () => {
    const servers = startServers({ notes: offeringServer('silent') });
    await servers.ready('notes', signal);
    expect(servers.tools().map(({ name }) => name)).toContain('mcp__notes__touch');
    expect(servers.offers()[0]?.instructions).toContain('sparingly');
  });
});

describe('the instructions of a server', () => {
  test('have their hidden characters made visible', async () => {
    const { offer } = await started();
    expect(offer.instructions).toBe('Use notes\\u{200b} sparingly.\nAlways.');
  });

  test('are cut where they are long', async () => {
    const { offer } = await started('long=5000000');
    expect(offer.instructions).toHaveLength(2_048);
  });

  test('of more than a message may hold end the connection, and take no other server with it', async () => {
    const servers = startServers(
      { huge: offeringServer('long=50000000'), notes: offeringServer() },
      { maxFailures: 0 },
    );
    await servers.ready('notes', signal);
    await expect(servers.ready('huge', signal)).rejects.toThrow('Cannot reach the MCP server "huge"');
    expect(servers.offers().find(({ server }) => server === 'huge')).toEqual({ server: 'huge', prompts: [] });
  });
});

test('a server of the reference implementation has them all', async () => {
  const servers = startServers({
    everything: packageServer('@modelcontextprotocol/server-everything/dist/index.js', 'stdio'),
  });
  const offer = await eventually(() => servers.offers().find(({ prompts }) => prompts.length > 0));
  const prompt = offer.prompts.find(({ arguments: args }) => args.some(({ required }) => required));
  if (!prompt) throw new Error('No prompt with arguments');
  const values = Object.fromEntries(prompt.arguments.map(({ name }) => [name, 'Ulm']));
  expect(offer.instructions).not.toBe('');
  expect(JSON.stringify(await servers.getPrompt(prompt, values, signal))).toContain('Ulm');
  const [template] = await servers.listTemplates('everything', signal);
  expect(template?.uriTemplate).toMatch(/\{\w+\}/);
  const completable = offer.prompts.find(({ sentName }) => sentName.includes('complet'));
  const ref = { type: 'ref/prompt', name: completable?.sentName ?? '' } as const;
  const argument = { name: completable?.arguments[0]?.name ?? '', value: 'E' };
  const { values: completed } = await servers.complete('everything', { ref, argument }, signal);
  expect(completed).toContain('Engineering');
});
