/** Config and SendUserMessage over the wire. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { sharedWorkspace } from '../helpers/shared-workspace.ts';
import { block, until, type WireClient } from '../helpers/wire-client.ts';

let client: WireClient;
let folder: string;

beforeAll(async () => {
  ({ client, folder } = await sharedWorkspace('config'));
});

const run = async (session: string, name: string, input: object) => {
  const { results, calls } = await client.execute(session, [block(name, input)]);
  return { content: results[0]?.content ?? '', call: calls[0] };
};

/** Run a call that asks, and allow it. */
async function allowed(session: string, input: object) {
  const waiting = client.execute(session, [block('Config', input)], { on_ask: 'wait' });
  const prompt = await until(async () => (await client.get(`/sessions/${session}/prompts`)).body.prompts[0]);
  await client.post(`/sessions/${session}/prompts/${prompt.request_id}`, { behavior: 'allow' });
  return { prompt, content: (await waiting).results[0]?.content };
}

const modeOf = async (session: string) => (await client.get(`/sessions/${session}/permissions`)).body['mode'];

describe('Config', () => {
  it('shows settings of the session and limits of the server, unasked', async () => {
    const session = await client.session({ cwd: folder, mode: 'plan' });
    expect((await run(session, 'Config', { setting: 'mode' })).content).toBe('mode: "plan"');
    expect((await run(session, 'Config', { setting: 'cwd' })).content).toBe(`cwd: ${JSON.stringify(folder)}`);
    expect((await run(session, 'Config', { setting: 'limits.openSessions' })).content).toBe(
      'limits.openSessions: 2000',
    );
  });

  it('asks a person before the mode changes, whatever mode or rule there is', async () => {
    for (const more of [{ mode: 'bypassPermissions' }, { rules: { allow: ['Config'] } }]) {
      const session = await client.session({ cwd: folder, ...more });
      const { prompt, content } = await allowed(session, { setting: 'mode', value: 'acceptEdits' });
      expect(prompt['title']).toContain('wants to change "mode" of this session');
      expect(content).toMatch(/^Changed mode from ".*" to "acceptEdits"$/);
      expect(await modeOf(session)).toBe('acceptEdits');
    }
  });

  it('changes nothing in plan mode, and nothing that the session may not have', async () => {
    const planning = await client.session({ cwd: folder, mode: 'plan' });
    const refused = await run(planning, 'Config', { setting: 'mode', value: 'default' });
    expect(refused.content).toContain('Leave plan mode first');
    const session = await client.session({ cwd: folder });
    const { content } = await allowed(session, { setting: 'additionalDirectories', value: ['relative'] });
    expect(content).toContain('give an absolute path');
    await allowed(session, { setting: 'additionalDirectories', value: [folder] });
    const { body } = await client.get(`/sessions/${session}/permissions`);
    expect(body['additional_directories']).toEqual([folder]);
  });

  it.each([
    [{ setting: 'mod' }, 'Did you mean "mode"?'],
    [{ setting: 'token' }, 'There is no setting "token"'],
    [{ setting: 'cwd', value: '/' }, 'It can only be shown'],
    [{ setting: 'mode', value: 'yolo' }, 'expected one of default'],
  ])('refuses %j before anybody is asked', async (input, words) => {
    expect((await run(await client.session({ cwd: folder }), 'Config', input)).content).toContain(words);
  });
});

describe('SendUserMessage', () => {
  it('reaches whoever watches, with the files it names', async () => {
    writeFileSync(join(folder, 'report.md'), 'done');
    const session = await client.session({ cwd: folder, mode: 'plan' });
    const { content } = await run(session, 'Brief', { message: 'Half done', attachments: ['report.md'] });
    expect(content).toBe(`Sent with ${join(folder, 'report.md')}`);
    const frames = await client.frames(session);
    expect(frames.find(({ type }) => type === 'notice')).toMatchObject({ code: 'user_message', message: 'Half done' });
    expect(frames.find(({ type }) => type === 'result')?.['display']).toMatchObject({
      blocks: [{ text: 'Half done' }, { items: [`${join(folder, 'report.md')} (4 bytes)`] }],
    });
  });

  it('sends nothing where a file is missing, and asks about one outside', async () => {
    const session = await client.session({ cwd: folder });
    const missing = await run(session, 'SendUserMessage', { message: 'See', attachments: ['none.md'] });
    expect(missing.call?.error_code).toBe('tool_failed');
    const outside = await run(session, 'SendUserMessage', { message: 'See', attachments: ['/etc/hostname'] });
    expect(outside.call?.error_code).toBe('permission_denied');
    expect((await client.frames(session)).filter(({ type }) => type === 'notice')).toEqual([]);
  });
});
