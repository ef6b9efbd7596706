/** Skills over the wire: how they are found, what they say, and what they may do. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type BuiltServer, serverHome, startServer } from '../helpers/built-server.ts';
import { block, until, wireClient, type WireClient } from '../helpers/wire-client.ts';

const FILES = {
  'release/SKILL.md': `---
name: release
description: Cuts a release. Use it when a version is to be published.
argument-hint: "[version]"
allowed-tools: Bash(touch *), Read
---
Release $1, all of it: $ARGUMENTS. See notes.md.
`,
  'release/notes.md': 'Mind the changelog\n',
  'review/SKILL.md': '---\nname: review\ndescription: Reviews a change\n---\nLook twice.\n',
  'secret/SKILL.md': '---\nname: secret\ndescription: Only for people\ndisable-model-invocation: true\n---\nHidden.\n',
  'broken/SKILL.md': '---\nname: broken\n---\nNo description.\n',
  'wild/SKILL.md': '---\nname: wild\ndescription: Wild\nallowed-tools: "Bash(("\n---\nx\n',
  'README.md': 'No skill',
};

let server: BuiltServer;
let client: WireClient;
let folder: string;

beforeAll(async () => {
  const home = serverHome();
  folder = join(home, 'data', 'skills');
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const outside = join(home, 'skills');
  mkdirSync(join(outside, 'outside'), { recursive: true });
  writeFileSync(join(outside, 'outside/SKILL.md'), '---\nname: outside\ndescription: Far away\n---\nRead extra.md.\n');
  writeFileSync(join(outside, 'outside/extra.md'), 'the extra text\n');
  server = await startServer({ home, settings: { skills: ['./skills', outside] } });
  client = wireClient(server);
});

const run = async (session: string, name: string, input: object) => {
  const { results, calls } = await client.execute(session, [block(name, input)]);
  return { content: results[0]?.content ?? '', call: calls[0] };
};

describe('a skill', () => {
  it('is listed with its description, unless it is for people alone or broken, which the operator hears', async () => {
    const { body } = await client.get('/tools/Skill');
    const words = String(body['description']);
    expect(words).toContain('- release [version]: Cuts a release.');
    expect(words).toContain('- review: Reviews a change');
    expect(words).not.toMatch(/secret|broken|wild/);
    expect(words.length).toBeLessThan(1_025);
    expect(server.logged()).toMatch(/Cannot use the skill .*broken.*description/);
    expect(server.logged()).toMatch(/Cannot use the skill .*wild/);
  });

  it('is loaded unasked where it brings no rules, in plan mode too', async () => {
    const session = await client.session({ mode: 'plan' });
    const { content } = await run(session, 'Skill', { skill: 'review', args: 'src/app.ts' });
    expect(content).toMatch(
      /^Skill "review"\. Its files are in .*review; [^]*Look twice\.\n\nArguments: src\/app\.ts$/,
    );
  });

  it('is asked about where it brings rules, which hold once it is loaded, until the next one', async () => {
    const session = await client.session();
    const touch = () => run(session, 'Bash', { command: 'touch released' });
    const refused = await run(session, 'Skill', { skill: 'release' });
    expect(refused.content).toContain('lets calls through unasked: Bash(touch *), Read');
    expect((await touch()).call?.error_code).toBe('permission_denied');

    const asked = client.execute(session, [block('Skill', { skill: 'release', args: '1.2 soon' })], { on_ask: 'wait' });
    const prompt = await until(async () => (await client.get(`/sessions/${session}/prompts`)).body.prompts[0]);
    expect(prompt['suggestions']).toMatchObject([{ rules: ['Skill(release)'] }]);
    await client.post(`/sessions/${session}/prompts/${prompt.request_id}`, { behavior: 'allow' });
    expect((await asked).results[0]?.content).toContain('Release 1.2, all of it: 1.2 soon. See notes.md.');
    expect((await touch()).call?.status).toBe('ok');
    expect(existsSync(join(server.workspace, 'released'))).toBe(true);

    await run(session, 'Skill', { skill: 'review' });
    expect((await touch()).call?.error_code).toBe('permission_denied');
  });

  it('may have its files read once it is loaded, and not before', async () => {
    const session = await client.session();
    const extra = join(server.home, 'skills/outside/extra.md');
    expect((await run(session, 'Read', { file_path: extra })).call?.error_code).toBe('permission_denied');
    await run(session, 'Skill', { skill: 'outside' });
    expect((await run(session, 'Read', { file_path: extra })).content).toContain('the extra text');
  });

  it('is allowed and denied by rules that name it', async () => {
    const session = await client.session({ rules: { allow: ['Skill(release)'], deny: ['Skill(rev:*)'] } });
    expect((await run(session, 'Skill', { skill: 'release' })).call?.status).toBe('ok');
    expect((await run(session, 'Skill', { skill: 'review' })).content).toContain('Denied by rule "Skill(rev:*)"');
    const bare = await client.session({ rules: { deny: ['Skill'] } });
    expect((await run(bare, 'Skill', { skill: 'review' })).content).toContain('not available (deny rule: "Skill")');
  });

  it('that is not there is answered with the nearest', async () => {
    const session = await client.session();
    expect((await run(session, 'Skill', { skill: 'relaese' })).content).toContain('Did you mean "release"?');
    expect((await run(session, 'Skill', { skill: 'secret' })).content).toContain('There is no skill "secret"');
  });

  it('is found by ToolSearch', async () => {
    const session = await client.session();
    expect((await run(session, 'ToolSearch', { query: 'publish version' })).content).toBe(
      'Skills, to load with Skill:\n- release [version]: Cuts a release. Use it when a version is to be published.',
    );
    expect((await run(session, 'ToolSearch', { query: 'people' })).content).not.toContain('secret');
  });

  it('cannot be written by a session unasked, in any mode', async () => {
    const session = await client.session({
      mode: 'bypassPermissions',
      additional_directories: [join(server.home, 'skills')],
    });
    const file_path = join(server.home, 'skills/outside/SKILL.md');
    expect((await run(session, 'Write', { file_path, content: 'x' })).call?.error_code).not.toBeUndefined();
    const made = await run(session, 'Write', { file_path: join(server.home, 'skills/new/SKILL.md'), content: 'x' });
    expect(made.call?.error_code).toBe('permission_denied');
  });
});

describe('without skills', () => {
  it('Skill is not listed, and the full list says what to set', async () => {
    const at = wireClient(await startServer());
    const { body } = await at.get('/tools?format=full');
    expect(body.tools.find(({ name }) => name === 'Skill')?.['state']).toContain('set "skills" to folders');
  });
});
