/** Commands that read by git, in repositories whose settings may name programs. */
import type { SessionContext } from '../../../src/tool/session-context.ts';
import type { PermissionMatcher } from '../../../src/tool/tool.ts';
import { repositoryDanger } from '../../../src/files/git-repository.ts';
import { shellMatcher } from '../../../src/shell/matcher.ts';
import type { ShellLine } from '../../../src/shell/shell-line.ts';
import { startFolder } from './working-directory.ts';

/** Which parts pass as reading and may start git: the word counts wherever it stands, as launchers come before it. */
function readsByGit({ verdict }: ShellLine): readonly boolean[] {
  return verdict.parts.map(({ isReadOnly, words }) => isReadOnly && words.some((word) => /^(?:.*\/)?git$/s.test(word)));
}

/** What the repository around the session would make the git in a command run; undefined where nothing reads by git. */
export function gitDanger(line: ShellLine, session: SessionContext): string | undefined {
  if (!readsByGit(line).includes(true)) return undefined;
  const roots = [session.root, ...session.permissions.additionalDirectories];
  return repositoryDanger(startFolder(session).cwd, roots, line.verdict.isReadOnly);
}

/**
 * Match a command against rules. Reading needs no rule beside what a rule allows, but where git would run a program of
 * the repository, that is for rules about git: `Bash(head:*)` does not allow `git diff | head` there.
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
