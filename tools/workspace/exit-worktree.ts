/** ExitWorktree: moves the session out of its worktree, and keeps or removes it. */
import * as z from 'zod';
import { GauntletError } from '../../src/base/errors.ts';
import { removeWorktree, worktreeLosses } from '../../src/process/git-worktree.ts';
import { buildTool } from '../../src/tool/build-tool.ts';
import { drawFailure } from '../../src/tool/draw-failure.ts';
import type { ToolResult, ToolUseContext, ValidationResult } from '../../src/tool/tool.ts';
import type { Display } from '../../src/wire/display.ts';
import { enteredWorktree, outOfWorktree } from './entered-worktree.ts';
import { needsGit, type WorkspaceToolServices } from './services.ts';

const PROMPT = `Moves this session out of the worktree that EnterWorktree made, back to where it was.

- \`action: "keep"\` leaves the worktree and its branch as they are
- \`action: "remove"\` removes both. While they hold what is nowhere else (changed, untracked or ignored files, commits on no other branch), that is an error which lists it, and nothing happens
- Set \`discard_changes\` only when the person wants what was listed thrown away; otherwise commit, merge or push it first, or keep the worktree
- Stop background tasks that work in the worktree before you remove it`;

const ExitWorktreeInput = z.strictObject({
  action: z.enum(['keep', 'remove']).describe('"keep" leaves worktree and branch, "remove" removes both'),
  discard_changes: z
    .boolean()
    .optional()
    .describe('Remove the worktree although files or commits in it are nowhere else; they are lost'),
});

/** A parsed input. */
export type ExitWorktreeArguments = z.output<typeof ExitWorktreeInput>;

/** Make ExitWorktree. */
export function exitWorktreeTool(services: WorkspaceToolServices) {
  return buildTool({
    name: 'ExitWorktree',
    searchHint: 'leave the git worktree, keep or remove it',
    shouldDefer: true,
    ...needsGit(services),
    inputSchema: ExitWorktreeInput,
    maxResultSizeChars: 10_000,
    prompt: () => PROMPT,
    description: (input) => titleOf(input),
    touchesOnlySession: ({ action }) => action === 'keep',
    isDestructive: ({ action, discard_changes }) => action === 'remove' && discard_changes === true,
    warnings: ({ action, discard_changes }) =>
      action === 'remove' && discard_changes === true ? ['Files and commits of the worktree are lost for good'] : [],
    validateInput: validate,
    call: (input, context) => leave(services, input, context),
    mapToolResultToToolResultBlockParam: (output: ExitWorktreeOutput, toolUseId) => ({
      type: 'tool_result',
      tool_use_id: toolUseId,
      content: exitText(output),
    }),
    getActivityDescription: () => 'Leaving the worktree',
    renderToolUseMessage: (input): Display => ({
      title: titleOf(input),
      ...(input.discard_changes === true && { tone: 'danger' }),
      blocks: [],
    }),
    renderToolResultMessage: (output: ExitWorktreeOutput): Display => ({
      title: output.action === 'keep' ? 'Worktree left and kept' : 'Worktree removed',
      subtitle: output.path,
      tone: 'success',
      blocks: output.lost.length === 0 ? [] : [{ kind: 'list', items: output.lost }],
    }),
    renderToolUseRejectedMessage: (_input, message) => drawFailure('Did not leave the worktree', message),
    renderToolUseErrorMessage: (message) => drawFailure('Could not leave the worktree', message),
  });
}

/** The worktree that was left. */
export interface ExitWorktreeOutput {
  readonly action: ExitWorktreeArguments['action'];
  readonly path: string;
  readonly branch: string;
  readonly cwd: string;
  /** Discarded changes, one line for each kind. */
  readonly lost: readonly string[];
}

function titleOf({ action, discard_changes }: Partial<ExitWorktreeArguments>): string {
  if (action !== 'remove') return 'Leave the worktree and keep it';
  return discard_changes === true ? 'Remove the worktree with all it holds' : 'Leave the worktree and remove it';
}

function validate({ action, discard_changes }: ExitWorktreeArguments, { session }: ToolUseContext): ValidationResult {
  if (action === 'keep' && discard_changes === true) {
    const message = '"discard_changes" goes with "action": "remove" only: leave it out to keep the worktree';
    return { result: false, message };
  }
  if (session.worktree === undefined)
    return { result: false, message: 'The session is in no worktree. EnterWorktree makes one' };
  if (enteredWorktree(session)) return { result: true };
  const message = `The worktree "${session.worktree.path}" was made for this agent, and goes or stays when the agent ends`;
  return { result: false, message };
}

async function leave(
  services: WorkspaceToolServices,
  { action, discard_changes: isForced = false }: ExitWorktreeArguments,
  context: ToolUseContext,
): Promise<ToolResult<ExitWorktreeOutput>> {
  const worktree = enteredWorktree(context.session);
  if (!worktree) throw new GauntletError('tool_failed', 'The session is in no worktree any more');
  const lost = action === 'remove' ? await worktreeLosses(services, context, worktree) : [];
  if (lost.length > 0 && !isForced) {
    const list = lost.map((line) => `\n- ${line}`).join('');
    const fix = 'Commit and merge or push it, leave with "keep", or set "discard_changes" if it shall be lost';
    throw new GauntletError('tool_failed', `Cannot remove "${worktree.path}": this would be lost:${list}\n${fix}`);
  }
  if (action === 'remove') await removeWorktree(services, context, worktree, { isForced });
  const { path, branch } = worktree;
  const { cwd } = outOfWorktree(context.session);
  return { data: { action, path, branch, cwd, lost }, contextModifier: outOfWorktree };
}

function exitText({ action, path, branch, cwd, lost }: ExitWorktreeOutput): string {
  const where = `The session works in ${cwd} again.`;
  if (action === 'keep') return `${where} The worktree ${path} and its branch ${branch} are kept`;
  const what = lost.length === 0 ? '' : `\nThrown away with it:\n${lost.map((line) => `- ${line}`).join('\n')}`;
  return `${where} The worktree ${path} and its branch ${branch} are removed${what}`;
}
