/** EnterWorktree: makes a git worktree and moves the session into it. */
import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { showValue } from '../../src/base/hidden-characters.ts';
import { makeWorktree } from '../../src/process/git-worktree.ts';
import { buildTool } from '../../src/tool/build-tool.ts';
import { drawFailure } from '../../src/tool/draw-failure.ts';
import { type Worktree, WORKTREES_FOLDER } from '../../src/tool/session-context.ts';
import type { ToolResult, ToolUseContext } from '../../src/tool/tool.ts';
import type { Display } from '../../src/wire/display.ts';
import { inWorktree } from './entered-worktree.ts';
import { needsGit, type WorkspaceToolServices } from './services.ts';

const PROMPT = `Makes a git worktree, a second working copy of the repository on a branch of its own, and moves this session into it.

Use it when the person asks for a worktree, or for work that must not touch the files they work on. For an ordinary branch use git with Bash.

- The worktree begins at the current commit: what is not committed stays behind, and so do files that git ignores, such as installed packages
- It lies in ${WORKTREES_FOLDER}/ at the top of the repository. From then on relative paths and commands start there; do not change files outside it
- Programs that a repository names, such as hooks and filters, do not run. A repository that needs a filter is refused
- ExitWorktree leads back, and keeps or removes the worktree`;

/** Name of a worktree, which becomes that of a folder and of a branch: nothing that a path or git reads as more. */
const WorktreeName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'expected 1 to 64 letters, digits, ".", "_" and "-", no sign in front')
  .refine((name) => !/\.\.|\.lock$|\.$/.test(name), 'expected a name without "..", not ending in "." or ".lock"');

const EnterWorktreeInput = z.strictObject({
  name: WorktreeName.optional().describe('Name of the worktree, as in "fix-login"; one is made up where there is none'),
});

/** A parsed input. */
export type EnterWorktreeArguments = z.output<typeof EnterWorktreeInput>;

/** Make EnterWorktree. */
export function enterWorktreeTool(services: WorkspaceToolServices) {
  return buildTool({
    name: 'EnterWorktree',
    searchHint: 'work in a separate git worktree and branch',
    shouldDefer: true,
    ...needsGit(services),
    inputSchema: EnterWorktreeInput,
    maxResultSizeChars: 10_000,
    prompt: () => PROMPT,
    description: ({ name }) => `Make a git worktree${name === undefined ? '' : ` "${name}"`} and work in it`,
    validateInput: (_input, { session }) =>
      session.worktree === undefined
        ? { result: true }
        : {
            result: false,
            message: `The session is in the worktree "${session.worktree.path}" already. Leave it first`,
          },
    call: (input, context) => enter(services, input, context),
    mapToolResultToToolResultBlockParam: ({ path, branch, originalCwd }: Worktree, toolUseId) => ({
      type: 'tool_result',
      tool_use_id: toolUseId,
      content: `The session works in the worktree ${path} now, on the new branch ${branch}. ExitWorktree leads back to ${originalCwd}`,
    }),
    getToolUseSummary: ({ name }) => name ?? '',
    getActivityDescription: () => 'Making a worktree',
    renderToolUseMessage: ({ name }): Display => ({
      title: name === undefined ? 'New worktree' : `New worktree ${showValue(name, '…')}`,
      blocks: [],
    }),
    renderToolResultMessage: ({ path, branch }: Worktree): Display => ({
      title: `In the worktree ${path}`,
      subtitle: `Branch ${branch}`,
      tone: 'success',
      blocks: [],
    }),
    renderToolUseRejectedMessage: (_input, message) => drawFailure('No worktree made', message),
    renderToolUseErrorMessage: (message) => drawFailure('Could not make a worktree', message),
  });
}

async function enter(
  services: WorkspaceToolServices,
  { name = `work-${randomBytes(4).toString('hex')}` }: EnterWorktreeArguments,
  context: ToolUseContext,
): Promise<ToolResult<Worktree>> {
  const worktree = await makeWorktree(services, context, name);
  return { data: worktree, contextModifier: (session) => inWorktree(session, worktree) };
}
