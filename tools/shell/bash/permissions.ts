/** What Bash asks before it runs, what it shows then, and the rule it suggests. */
import type { PermissionResult } from '../../../src/contract/decision.ts';
import type { SessionContext } from '../../../src/contract/session-context.ts';
import type { CallPreview, PermissionMatcher, ToolUseContext } from '../../../src/contract/tool.ts';
import { repositoryDanger } from '../../../src/files/git-repository.ts';
import { classifyCommand } from '../../../src/permissions/shell/classify.ts';
import { shellMatcher } from '../../../src/permissions/shell/matcher.ts';
import { suggestShellSpecs } from '../../../src/permissions/shell/suggest.ts';
import type { Sandbox } from '../../../src/process/sandbox.ts';
import type { ShellToolServices } from '../services.ts';
import { isSandboxed } from './enclosed.ts';
import type { BashArguments } from './schema.ts';
import { previewSedEdit, SHOWN_EDIT } from './sed-edit.ts';
import { startFolder } from './working-directory.ts';

/**
 * Leaving the sandbox needs a person each time, whether there is one or not. A command that reads by git is asked about
 * where that would run programs of the repository. Everything else is for the general rules.
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

function checkGit(input: BashArguments, { session }: ToolUseContext, sandbox: Sandbox | undefined): PermissionResult {
  if (runsContained(input, sandbox)) return { behavior: 'allow' };
  const danger = readsByGit(input.command).includes(true) ? gitDanger(input.command, session) : undefined;
  if (danger === undefined) return { behavior: 'allow' };
  return { behavior: 'ask', message: `git needs a yes in this repository: ${danger}` };
}

/** Which parts pass as reading and may start git: the word counts wherever it stands, as launchers come before it. */
function readsByGit(command: string): readonly boolean[] {
  const { parts } = classifyCommand(command);
  return parts.map(({ isReadOnly, words }) => isReadOnly && words.some((word) => /^(?:.*\/)?git$/s.test(word)));
}

function gitDanger(command: string, session: SessionContext): string | undefined {
  const roots = [session.root, ...session.permissions.additionalDirectories];
  return repositoryDanger(startFolder(session).cwd, roots, classifyCommand(command).isReadOnly);
}

/**
 * Match a command against rules. Reading needs no rule beside what a rule allows, but where git would run a program of
 * the repository, that is for rules about git: `Bash(head:*)` does not allow `git diff | head` there.
 */
export function bashMatcher({ command }: BashArguments, session: SessionContext): PermissionMatcher {
  const matcher = shellMatcher(command);
  const isGit = readsByGit(command);
  if (!isGit.includes(true)) return matcher;
  const parts = matcher.parts?.filter((_part, at) => isGit[at]) ?? [];
  return {
    ...matcher,
    covers: (specs) => {
      const found = matcher.covers(specs);
      const isNamed = specs.includes(command) || parts.every((part) => part.covers?.(specs) !== undefined);
      return found === undefined || isNamed || gitDanger(command, session) === undefined ? found : undefined;
    },
  };
}

/** It runs in the sandbox, and the operator lets what runs there run unasked. */
export function runsContained(input: BashArguments, sandbox: Sandbox | undefined): boolean {
  return isSandboxed(sandbox, input) && sandbox.isAutoAllowed;
}

/** Fields of an input that only the server sets. */
export const INTERNAL_FIELDS = [SHOWN_EDIT];

/** What a command would do, where that is certain: an edit in place. */
export async function previewBash(
  services: ShellToolServices,
  input: BashArguments,
  context: ToolUseContext,
): Promise<CallPreview | undefined> {
  const isElsewhere = input.run_in_background === true || input.dangerouslyDisableSandbox === true;
  return isElsewhere ? undefined : previewSedEdit(services, input.command, context);
}

/** What "always allow" would add: prefixes such as `Bash(touch:*)`. */
export function suggestBashRules(input: BashArguments): readonly string[] {
  return suggestShellSpecs(input.command).map((spec) => `Bash(${spec})`);
}
