/** Checks read-only git commands in repositories whose settings may name programs. */
import type { SessionContext } from '../../../src/tool/session-context.ts';
import type { PermissionMatcher } from '../../../src/tool/tool.ts';
import { repositoryDanger } from '../../../src/files/git-repository.ts';
import { shellMatcher } from '../../../src/shell/matcher.ts';
import type { ShellLine } from '../../../src/shell/shell-line.ts';
import { startFolder } from './working-directory.ts';

/**
 * Mark the parts that are read-only and may start git. The word counts at any position, since launchers may precede it.
 */
function readsByGit({ verdict }: ShellLine): readonly boolean[] {
  return verdict.parts.map(({ isReadOnly, words }) => isReadOnly && words.some((word) => /^(?:.*\/)?git$/s.test(word)));
}

/**
 * Return the program that git would run because of the repository around the session; undefined if no part reads with
 * git.
 */
export function gitDanger(line: ShellLine, session: SessionContext): string | undefined {
  if (!readsByGit(line).includes(true)) return undefined;
  const roots = [session.root, ...session.permissions.additionalDirectories];
  return repositoryDanger(startFolder(session).cwd, roots, line.verdict.isReadOnly);
}

/**
 * Create the permission matcher of a command. Read-only parts normally need no rule of their own, but if git would run
 * a program of the repository, a rule for git is required: `Bash(head:*)` does not allow `git diff | head` there.
 */
export function bashMatcher(line: ShellLine, session: SessionContext): PermissionMatcher {
  const matcher = shellMatcher(line);
  const isGit = readsByGit(line);
  if (!isGit.includes(true)) return matcher;
  const parts = matcher.parts?.filter((_part, at) => isGit[at]) ?? [];
  return {
    ...matcher,
    covers: (specs) => {
      const found = matcher.covers(specs);
      const isNamed = specs.includes(line.command) || parts.every((part) => part.covers?.(specs) !== undefined);
      return found === undefined || isNamed || gitDanger(line, session) === undefined ? found : undefined;
    },
  };
}
