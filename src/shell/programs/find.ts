/** Judges find: a grammar of single-dash tests and actions, some of which run, delete and write. */
import { ANYWHERE, type CommandJudgement, HERE, type ProgramSpec } from '../program-spec.ts';
import type { ShellWord } from '../word.ts';

/** Tests and actions that take no argument. */
const PLAIN = new Set(
  (
    '-print -print0 -ls -prune -quit -empty -true -false -depth -d -mount -xdev -daystart -follow -noleaf -readable -writable ' +
    '-executable -nouser -nogroup -not -a -and -o -or ! ( ) , -warn -nowarn -ignore_readdir_race -noignore_readdir_race -X -x -s'
  ).split(' '),
);

/** Tests and actions that take one argument. */
const WITH_ARGUMENT = new Set(
  (
    '-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -lname -ilname -type -xtype -size -mtime -mmin -atime -amin ' +
    '-ctime -cmin -newer -anewer -cnewer -newermt -newerat -newerct -newermm -newerat -user -group -uid -gid -perm -links -inum -samefile -maxdepth -mindepth ' +
    '-fstype -used -printf -context'
  ).split(' '),
);

/** The spec of find. */
export const FIND: ProgramSpec = { judge: judgeFind };

function judgeFind(words: readonly ShellWord[]): CommandJudgement {
  const reads: ShellWord[] = [];
  const testedPaths: ShellWord[] = [];
  if (words.length === 1 && /^--(?:help|version)$/.test(words[0]?.literal ?? '')) return { reads };
  let isInExpression = false;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as ShellWord;
    const text = word.literal;
    if (!isInExpression && /^-[HLP]$/.test(text ?? '')) continue;
    const isExpression = text === undefined ? word.mayBeFlag : /^(?:-.|[(!,)])/.test(text);
    if (!isInExpression && !isExpression && (word.patterns ?? [word.prefix]).every((path) => /^[^(!,)]/.test(path))) {
      reads.push(word);
      continue;
    }
    isInExpression = true;
    if (text === undefined) return { problem: `"${word.text}" may turn into an action of find`, reads };
    if (PLAIN.has(text)) continue;
    const argument = words[at + 1];
    if (!WITH_ARGUMENT.has(text) || !argument) return { problem: `"${text}" of find is not known to only read`, reads };
    if (argument.isSplit) return { problem: `"${argument.text}" may turn into an action of find`, reads };
    if (/^-(?:samefile|[ac]?newer|newer[mac]m)$/.test(text)) testedPaths.push(argument);
    at++;
  }
  const followsLinks = words.some(({ literal }) => literal === '-L' || literal === '-follow');
  return {
    reads: [...(reads.length > 0 ? reads : [HERE]), ...(followsLinks ? [ANYWHERE] : [])],
    testedPaths,
  };
}
