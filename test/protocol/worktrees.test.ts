/** Worktrees over the wire: who is asked, which rules hold in them, and what a killed server remembers. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { serverHome, startServer, type BuiltServer } from '../helpers/built-server.ts';
import { git } from '../helpers/git-repositories.ts';
import { type ScriptedStep, scriptedModel } from '../helpers/scripted-model.ts';
import { block, until, wireClient, type WireClient } from '../helpers/wire-client.ts';

let server: BuiltServer;
let client: WireClient;
let made = 0;

beforeAll(async () => {
  server = await startServer();
  client = wireClient(server);
});

/** A repository with a source file and a secret, both committed. */
function repository(workspace = server.workspace): string {
  const top = join(workspace, `repository-${(made += 1)}`);
  for (const folder of ['src', 'secrets']) mkdirSync(join(top, folder), { recursive: true });
  git(top, 'init', '-q', '-b', 'main');
  writeFileSync(join(top, 'src', 'app.ts'), 'one\n');
  writeFileSync(join(top, 'secrets', 'key'), 'the canary\n');
  git(top, 'add', '.');
  git(top, 'commit', '-qm', 'first');
  return top;
}

/** A session that may use both tools unasked. */
const begin = (cwd: string, more: { deny?: readonly string[]; mode?: string } = {}) =>
  client.session({
    cwd,
    ...(more.mode !== undefined && { mode: more.mode }),
    rules: { allow: ['EnterWorktree', 'ExitWorktree'], deny: more.deny ?? [] },
  });

async function run(session: string, name: string, input: object, at = client) {
  const { results, calls } = await at.execute(session, [block(name, input)]);
  return { text: results[0]?.content ?? '', status: calls[0]?.status };
}

describe('a session in a worktree', () => {
  it('is asked about before it is made and removed, not when it is left', async () => {
    const top = repository();
    const session = await client.session({ cwd: top });
    const refused = await run(session, 'EnterWorktree', {});
    expect(refused).toMatchObject({ status: 'denied', text: expect.stringContaining('EnterWorktree') as string });
    expect(existsSync(join(top, '.worktrees'))).toBe(false);
    const waiting = client.execute(session, [block('EnterWorktree', { name: 'asked' })], { on_ask: 'wait' });
    const prompt = await until(async () => (await client.get(`/sessions/${session}/prompts`)).body.prompts[0]);
    await client.post(`/sessions/${session}/prompts/${prompt.request_id}`, { behavior: 'allow' });
    expect((await waiting).calls[0]?.status).toBe('ok');
    expect(await run(session, 'ExitWorktree', { action: 'remove' })).toMatchObject({ status: 'denied' });
    expect(await run(session, 'ExitWorktree', { action: 'keep' })).toMatchObject({ status: 'ok' });
  });

  it('is refused in plan mode', async () => {
    const session = await begin(repository(), { mode: 'plan' });
    expect(await run(session, 'EnterWorktree', {})).toMatchObject({ status: 'denied' });
  });

  it('starts relative paths, commands and searches there, and is reset to it', async () => {
    const top = repository();
    const session = await client.session({ cwd: top, mode: 'bypassPermissions' });
    await run(session, 'EnterWorktree', { name: 'here' });
    const path = join(top, '.worktrees', 'here');
    await run(session, 'Read', { file_path: 'src/app.ts' });
    await run(session, 'Edit', { file_path: 'src/app.ts', old_string: 'one', new_string: 'two' });
    expect((await run(session, 'Bash', { command: 'pwd && cat src/app.ts' })).text).toBe(`${path}\ntwo`);
    expect((await run(session, 'Grep', { pattern: 'two' })).text).toContain('app.ts');
    expect((await run(session, 'Glob', { pattern: '**/*.ts' })).text).toContain('app.ts');
    expect((await run(session, 'Bash', { command: 'git status --short' })).text).toContain('M src/app.ts');
    const reset = await run(session, 'Bash', { command: 'cd /' });
    expect(reset.text).toContain(`reset to "${path}"`);
    expect(git(top, 'status', '--porcelain')).toBe('');
  });

  it('reads with git unasked, in its jail', async () => {
    const top = repository();
    const session = await begin(top);
    await run(session, 'EnterWorktree', { name: 'jailed' });
    const { text, status } = await run(session, 'Bash', { command: 'git log --oneline && git status -sb' });
    expect({ text, status }).toMatchObject({
      status: 'ok',
      text: expect.stringContaining('worktree-jailed') as string,
    });
  });

  it('is denied what a rule denies in the repository, by every tool', async () => {
    const top = repository();
    const session = await begin(top, { deny: ['Read(./secrets/**)', 'Edit(./src/**)'], mode: 'acceptEdits' });
    await run(session, 'EnterWorktree', { name: 'held' });
    const path = join(top, '.worktrees', 'held');
    expect(existsSync(join(path, 'secrets', 'key'))).toBe(true);
    const attempts = [
      ['Read', { file_path: 'secrets/key' }],
      ['Bash', { command: 'cat secrets/key' }],
      ['Bash', { command: `cat ${top}/.w*/held/secrets/key` }],
      ['Bash', { command: 'cat *' }],
      ['Bash', { command: 'grep -r canary .' }],
      ['Grep', { pattern: 'canary', output_mode: 'content' }],
      ['Grep', { pattern: 'canary', path: join(top, '.worktrees'), output_mode: 'content' }],
      ['Write', { file_path: 'src/new.ts', content: '' }],
    ] as const;
    for (const [name, input] of attempts) expect((await run(session, name, input)).text).not.toContain('the canary');
    expect(await run(session, 'Read', { file_path: 'secrets/key' })).toMatchObject({ status: 'denied' });
    expect(existsSync(join(path, 'src', 'new.ts'))).toBe(false);
    // In another session too, which is in no worktree.
    const other = await begin(top, { deny: ['Read(./secrets/**)'] });
    const read = await run(other, 'Read', { file_path: '.worktrees/held/secrets/key' });
    expect(read).toMatchObject({ status: 'denied' });
  });

  it('is still there after the server was killed, and leads back', async () => {
    const home = serverHome();
    const first = await startServer({ home });
    const top = repository(first.workspace);
    const before = wireClient(first);
    const session = await before.session({ cwd: top, mode: 'bypassPermissions' });
    await run(session, 'EnterWorktree', { name: 'kept' }, before);
    await first.end('SIGKILL');

    const after = wireClient(await startServer({ home }));
    const path = join(top, '.worktrees', 'kept');
    expect((await run(session, 'Bash', { command: 'pwd' }, after)).text.trim()).toBe(path);
    await run(session, 'Write', { file_path: 'new', content: 'mine' }, after);
    const refused = await run(session, 'ExitWorktree', { action: 'remove' }, after);
    expect(refused.text).toContain('untracked files: new');
    const left = await run(session, 'ExitWorktree', { action: 'remove', discard_changes: true }, after);
    expect(left.text).toContain('Thrown away with it:\n- untracked files: new');
    expect(existsSync(path)).toBe(false);
    expect((await run(session, 'Bash', { command: 'pwd' }, after)).text.trim()).toBe(top);
  });
});

describe('an agent with isolation "worktree"', () => {
  const scripts = new Map<string, readonly ScriptedStep[]>();
  let agents: { server: BuiltServer; client: WireClient };

  beforeAll(async () => {
    const model = await scriptedModel((request) => {
      const steps = scripts.get(request.prompt) ?? [];
      return steps[Math.min(request.turn, steps.length - 1)] ?? {};
    });
    const own = await startServer({ settings: { models: { default: model.settings() } } });
    agents = { server: own, client: wireClient(own) };
  });

  /** Run an agent that does as the steps say, in a fresh repository. */
  async function runAgent(steps: readonly ScriptedStep[], { mode = 'bypassPermissions', input = {} } = {}) {
    const top = repository(agents.server.workspace);
    scripts.set(top, steps);
    const session = await agents.client.session({ cwd: top, mode });
    const call = block('Agent', { description: 'a test', prompt: top, isolation: 'worktree', ...input });
    const { results, calls } = await agents.client.execute(session, [call]);
    const content: unknown = results[0]?.content;
    const text = Array.isArray(content)
      ? content.map(({ text = '' }: { text?: string }) => text).join('\n')
      : `${content}`;
    return { top, session, text, status: calls[0]?.status };
  }

  const bash = (command: string): ScriptedStep => ({ calls: [{ name: 'Bash', input: { command } }] });
  const branches = (top: string) => git(top, 'branch', '--format=%(refname:short)').trim().split('\n');

  it('works there, and leaves nothing where it changed nothing', async () => {
    const { top, text } = await runAgent([bash('pwd; git status -sb'), { text: 'Looked' }]);
    expect(text).toMatch(/^Looked\n\(agent ses_\S+: 2 turns/);
    expect(text).not.toContain('worktree');
    expect(git(top, 'worktree', 'list').trim().split('\n')).toHaveLength(1);
    expect(branches(top)).toEqual(['main']);
    const sessions = (await agents.client.get('/sessions?limit=50')).body.sessions;
    const frames = await Promise.all(sessions.map(({ session_id }) => agents.client.frames(session_id)));
    const opened = frames.flat().find((frame) => frame.type === 'opened' && frame['parent'] && frame['cwd'] === top);
    expect(opened?.['worktree']).toMatchObject({ original_cwd: top });
  });

  it('stays, and is named, where it changed or committed something', async () => {
    const changed = await runAgent([bash('echo new > src/new.ts'), { text: 'Done' }]);
    const path = /Its changes are in the worktree (\S+), on the branch (\S+)/.exec(changed.text)?.[1] ?? '';
    expect(path.startsWith(join(changed.top, '.worktrees', 'agent-'))).toBe(true);
    expect(existsSync(join(path, 'src', 'new.ts'))).toBe(true);
    expect(git(changed.top, 'status', '--porcelain')).toBe('');

    const commit = 'git -c user.name=A -c user.email=a@b commit -q --allow-empty -m done';
    const committed = await runAgent([bash(commit), { text: 'Done' }]);
    expect(committed.text).toContain('on the branch worktree-agent-');
  });

  it('is named by the task of one that works in the background', async () => {
    const steps = [bash('echo new > new'), { text: 'Done' }];
    const { session, text } = await runAgent(steps, { input: { run_in_background: true } });
    const task_id = /task_id: (\S+)/.exec(text)?.[1];
    const read = block('TaskOutput', { task_id, block: true });
    const { results } = await agents.client.execute(session, [read]);
    expect(results[0]?.content).toContain('note: Its changes are in the worktree ');
  });

  it('is asked about, since it changes the repository', async () => {
    const { top, status } = await runAgent([{ text: 'Never' }], { mode: 'default' });
    expect(status).toBe('denied');
    expect(existsSync(join(top, '.worktrees'))).toBe(false);
  });
});
