/** Commands that read by git, in repositories whose settings may name programs. */
import type { SessionContext } from '../../../src/contract/session-context.ts';
import type { PermissionMatcher } from '../../../src/contract/tool.ts';
import { repositoryDanger } from '../../../src/files/git-repository.ts';
import { classifyCommand } from '../../../src/permissions/shell/classify.ts';
import { shellMatcher } from '../../../src/permissions/shell/matcher.ts';
import type { BashArguments } from './schema.ts';
import { startFolder } from './working-directory.ts';

/** Which parts pass as reading and may start git: the word counts wherever it stands, as launchers come before it. */
function readsByGit(command: string): readonly boolean[] {
  const { parts } = classifyCommand(command);
  return parts.map(({ isReadOnly, words }) => isReadOnly && words.some((word) => /^(?:.*\/)?git$/s.test(word)));
}

/** What the repository around the session would make the git in a command run; undefined where nothing reads by git. */
export function gitDanger(command: string, session: SessionContext): string | undefined {
  if (!readsByGit(command).includes(true)) return undefined;
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
