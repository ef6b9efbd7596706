/** Permission check, preview and rule suggestions of Bash. */
import type { Sandbox } from '../../../src/process/sandbox.ts';
import { recordOf } from '../../../src/shell/programs/index.ts';
import type { ShellLine } from '../../../src/shell/shell-line.ts';
import { suggestShellSpecs } from '../../../src/shell/suggest.ts';
import type { ShellPart, ShellVerdict } from '../../../src/shell/verdict.ts';
import type { CallPreview, ToolUseContext } from '../../../src/tool/tool.ts';
import type { PermissionResult } from '../../../src/wire/decision.ts';
import type { ShellToolServices } from '../services.ts';
import { isSandboxed } from './enclosed.ts';
import { gitDanger } from './git-reading.ts';
import { lineOf } from './line.ts';
import type { BashArguments } from './schema.ts';
import { previewSedEdit, SHOWN_EDIT } from './sed-edit.ts';

/** Sub-commands and scripts that test and build, whose results are needed. */
const TEST_OR_BUILD = /\b(?:test|tests|spec|check|build|compile)\b/;

/**
 * Check the permission of a command. Leaving the sandbox is asked about each time, whether there is one or not. A
 * command that reads with git is asked about if git would run programs of the repository. All other cases are left to
 * the general rules.
 */
export function checkBash(
  input: BashArguments,
  context: ToolUseContext,
  sandbox: Sandbox | undefined,
): PermissionResult {
  if (input.dangerouslyDisableSandbox !== true) return checkGit(input, context, sandbox);
  if (sandbox?.isRequired) {
    const message = 'Cannot leave the sandbox: this server requires it. Call again without "dangerouslyDisableSandbox"';
    return { behavior: 'deny', message };
  }
  return { behavior: 'ask', message: 'The command wants to run outside the sandbox', isSafetyCheck: true };
}

function checkGit(
  input: BashArguments,
  { session, analysis }: ToolUseContext,
  sandbox: Sandbox | undefined,
): PermissionResult {
  if (runsContained(input, sandbox)) return { behavior: 'allow' };
  const danger = gitDanger(lineOf(input, analysis), session);
  if (danger === undefined) return { behavior: 'allow' };
  return { behavior: 'ask', message: `git needs approval in this repository: ${danger}` };
}

/** Report whether a command runs in the sandbox and is allowed unasked there. */
export function runsContained(input: BashArguments, sandbox: Sandbox | undefined): boolean {
  return isSandboxed(sandbox, input) && sandbox.isAutoAllowed;
}

/** Input fields that only the server sets. */
export const INTERNAL_FIELDS = [SHOWN_EDIT];

/** Preview the effect of a command if it is certain: an edit in place. */
export async function previewBash(
  services: ShellToolServices,
  input: BashArguments,
  context: ToolUseContext,
): Promise<CallPreview | undefined> {
  const isElsewhere = input.run_in_background === true || input.dangerouslyDisableSandbox === true;
  return isElsewhere ? undefined : previewSedEdit(services, lineOf(input, context.analysis), context);
}

/** Suggest rules for "always allow": prefixes such as `Bash(touch:*)`. */
export function suggestBashRules(line: ShellLine): readonly string[] {
  return suggestShellSpecs(line).map((spec) => `Bash(${spec})`);
}

/** Return `cancel` if the long-running parts of the command can be started again. */
export function interruptsBash({ parts }: ShellVerdict): 'cancel' | 'block' {
  return parts.some(isRestartable) && !parts.some(isTestOrBuild) ? 'cancel' : 'block';
}

function isRestartable({ program = '', words }: ShellPart): boolean {
  return recordOf(program)?.restartable?.test(words.slice(1).join(' ')) === true;
}

function isTestOrBuild({ text, words }: ShellPart): boolean {
  const first = (words.length > 0 ? words.join(' ') : text).split(' ', 3);
  return TEST_OR_BUILD.test(first.join(' ')) || first.some((word) => recordOf(word)?.isTestOrBuild === true);
}
