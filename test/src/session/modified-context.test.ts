/** What a tool may make of its session, and what stays of it. */
import { mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../../config/limits.ts';
import { GauntletError } from '../../../src/base/errors.ts';
import type { ContextModifier, SessionContext } from '../../../src/tool/session-context.ts';
import { openSqliteLog } from '../../../src/log/sqlite-log.ts';
import { SessionDirectory } from '../../../src/session/directory/session-directory.ts';
import type { Session } from '../../../src/session/session.ts';
import { noteTool, slowTool } from '../../helpers/fake-tools.ts';
import { asAfterKill, newFolder } from '../../helpers/log-folders.ts';
import { blockOf, execute, framesOf, sessionServices } from '../../helpers/session-services.ts';
import { until } from '../../helpers/wire-client.ts';

const closers: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of closers) await close();
});

/** A server whose tool Note makes of its session what `modifiers` has under its text; "forbidden" is out of bounds. */
function server(modifiers: Readonly<Record<string, ContextModifier>>, folder = realpathSync(newFolder())) {
  const note = noteTool({
    call: (input) => Promise.resolve({ data: input, contextModifier: modifiers[String(input['text'])] }),
  });
  const slow = slowTool();
  const log = openSqliteLog({ folder, limits: DEFAULT_LIMITS, durability: 'process' });
  const limits = { idleSessionMs: 1 };
  const services = sessionServices(log, [note, slow.tool], { folder, limits });
  const checkFolders = (_principal: string, folders: readonly string[]) => {
    if (folders.some((path) => path.includes('forbidden')))
      throw new GauntletError('forbidden', 'It must lie in the roots');
  };
  const directory = new SessionDirectory({ ...services, checkFolders });
  closers.push(() => directory.close().then(() => log.close()));
  const asleep = () => until(() => Promise.resolve(directory.openCount === 0));
  return { directory, folder, asleep, slow };
}

/** A folder below the workspace of the sessions in `folder`. */
function folderIn(folder: string, ...names: readonly string[]): string {
  const path = join(folder, ...names);
  mkdirSync(path, { recursive: true });
  return path;
}

const withPermissions =
  (changes: object): ContextModifier =>
  (context) => ({ ...context, permissions: { ...context.permissions, ...changes } });

/** What a tool could hand over, whatever the types say. */
const untyped = (make: (context: SessionContext) => unknown) => make as ContextModifier;

describe('a call fails, and says why, when its tool asks for', () => {
  it.each<[string, ContextModifier, RegExp]>([
    ['a mode that there is not', withPermissions({ mode: 'everything' }), /mode "everything".*acceptEdits/],
    ['a directory out of bounds', withPermissions({ additionalDirectories: ['/forbidden'] }), /must lie in the roots/],
    ['a directory by a relative path', withPermissions({ additionalDirectories: ['src'] }), /absolute path/],
    ['rules of another source', withPermissions({ rules: { policySettings: { allow: ['Bash'] } } }), /policySettings/],
    [
      'a folder outside as the one to work in',
      (context) => ({ ...context, cwd: '/usr' }),
      /inside the working directories/,
    ],
    [
      'a folder that is not there',
      (context) => ({ ...context, cwd: join(context.root, 'none') }),
      /inside the working directories/,
    ],
    ['a root out of bounds', (context) => ({ ...context, root: '/forbidden' }), /root/],
    ['a tool mode that there is not', untyped((context) => ({ ...context, toolMode: 'all' })), /tool mode is "all"/],
    [
      'a worktree without a branch',
      untyped((context) => ({ ...context, worktree: { path: context.root } })),
      /worktree/,
    ],
    ['a state that JSON cannot hold', untyped((context) => ({ ...context, toolState: { at: new Map() } })), /JSON/],
    ['no context at all', untyped(() => undefined), /no context/],
    [
      'nothing, because it throws',
      () => {
        throw new Error('thrown on purpose');
      },
      /thrown on purpose/,
    ],
  ])('%s', async (_what, modifier, reason) => {
    const { directory } = server({ bad: modifier });
    const session = await directory.create('owner', {});
    const before = session.describe();
    const { calls, results } = await execute(session, [blockOf('Note', 'bad')]);
    expect(calls).toMatchObject([{ status: 'error', error_code: 'tool_failed' }]);
    expect(results[0]?.content).toMatch(reason);
    expect(results[0]?.content).toMatch(/^The tool ran, but the session cannot change as it asks/);
    const unchanged = { head: 0, last_activity_at: '' };
    expect({ ...session.describe(), ...unchanged }).toEqual({ ...before, ...unchanged });
  });

  it('what the session may no longer have once calls beside it have ended', async () => {
    const modifier: ContextModifier = (context) => {
      if (context.permissions.mode === 'plan') throw new Error('not in plan mode');
      return { ...context, toolState: { note: true } };
    };
    const { directory, slow } = server({ late: modifier });
    const session = await directory.create('owner', {});
    const turn = await session.submit({ blocks: [blockOf('Slow', 'first'), blockOf('Note', 'late')] });
    await slow.isRunning('first');
    await until(async () =>
      (await framesOf(session)).some(
        (frame) => frame.type === 'state' && frame.tool_use_id === 'late' && frame.state === 'completed',
      ),
    );
    await session.updatePermissions([{ type: 'setMode', mode: 'plan' }]);
    slow.end('first');
    const { calls } = await session.collect(turn, AbortSignal.timeout(5_000));
    expect(calls).toMatchObject([{ status: 'ok' }, { status: 'error', error_code: 'tool_failed' }]);
    expect(session.context.toolState).toEqual({});
    expect((await framesOf(session)).find(({ type }) => type === 'notice')).toMatchObject({
      code: 'context_unchanged',
    });
  });
});

describe('a session that a tool moved', () => {
  const moved =
    (folder: string): ContextModifier =>
    (context) => ({
      ...context,
      root: folder,
      cwd: join(folder, 'src'),
      toolMode: 'simple',
      worktree: { path: folder, branch: 'topic', originalCwd: context.cwd },
    });
  const whereIs = ({ context: { root, cwd, toolMode, worktree } }: Session) => ({ root, cwd, toolMode, worktree });

  it.each(['after a nap', 'after a kill'])('is where it was %s', async (how) => {
    const folder = realpathSync(newFolder());
    const tree = folderIn(folder, 'tree');
    folderIn(tree, 'src');
    const first = server({ move: moved(tree) }, folder);
    const { id } = await first.directory.create('owner', {});
    const session = await first.directory.open('owner', id);
    expect((await execute(session, [blockOf('Note', 'move')])).calls).toMatchObject([{ status: 'ok' }]);
    const before = whereIs(session);
    expect(before).toMatchObject({
      root: tree,
      cwd: join(tree, 'src'),
      toolMode: 'simple',
      worktree: { branch: 'topic' },
    });
    expect((await framesOf(session)).find(({ type }) => type === 'context')).toMatchObject({
      root: tree,
      tool_mode: 'simple',
      worktree: { path: tree, branch: 'topic', original_cwd: join(folder, 'workspace') },
    });
    if (how === 'after a nap') {
      await first.asleep();
      expect(whereIs(await first.directory.open('owner', id))).toEqual(before);
    } else {
      const second = server({}, realpathSync(asAfterKill(folder)));
      expect(whereIs(await second.directory.open('owner', id))).toEqual(before);
    }
  });
});

describe('what tools keep in their session', () => {
  it('can be changed by nobody, before and after a restart', async () => {
    const kept = { Note: { list: [{ text: 'a' }] } };
    const { directory, asleep } = server({ keep: (context) => ({ ...context, toolState: kept }) });
    const { id } = await directory.create('owner', {});
    await execute(await directory.open('owner', id), [blockOf('Note', 'keep')]);
    expect(() => kept.Note.list.push({ text: 'b' })).toThrow(TypeError);
    expect(() => (kept.Note.list[0] = { text: 'b' })).toThrow(TypeError);
    await asleep();
    const { toolState } = (await directory.open('owner', id)).context;
    expect(toolState).toEqual({ Note: { list: [{ text: 'a' }] } });
    expect(() => (toolState['Note'] as typeof kept.Note).list.push({ text: 'b' })).toThrow(TypeError);
  });
});
