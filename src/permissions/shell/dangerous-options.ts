/** Options that run, delete or write elsewhere: a prefix rule does not cover them unless it spells them. */
import type { ShellWord } from './word.ts';

const DANGEROUS: Readonly<Record<string, RegExp>> = {
  find: /^-(?:exec|execdir|ok|okdir|delete|fprint|fprint0|fprintf|fls)$/,
  git: /^(?:-C.*|-c.*|--exec-path.*|--git-dir.*|--work-tree.*|--namespace.*|--config-env.*|--output(?:=.*)?|--ext-diff|--textconv|--upload-pack.*|--receive-pack.*|--open-files-in-pager.*|-O.*|--exec(?:=.*)?)$/,
  sort: /^(?:-[a-zA-Z]*o.*|-[a-zA-Z]*T.*|--output.*|--o.*|--compress-program.*|--comp.*|--temporary-directory.*)$/,
  rg: /^--(?:pre|hostname-bin|hyperlink-format)(?:=.*)?$|^-[a-zA-Z]*z|^--search-zip$/,
  fd: /^(?:-[xX].*|--exec(?:-batch)?(?:=.*)?)$/,
  fdfind: /^(?:-[xX].*|--exec(?:-batch)?(?:=.*)?)$/,
  sed: /^(?:-[a-zA-Z]*i.*|--in-.*|-[a-zA-Z]*f|--file.*)$/,
  awk: /^(?:-i|-f.*|-l|--include.*|--file.*|--load.*|--exec.*|-E)$/,
  gawk: /^(?:-i|-f.*|-l|--include.*|--file.*|--load.*|--exec.*|-E)$/,
  tar: /^(?:--checkpoint-action.*|--to-command.*|--use-compress-program.*|-I.*|-F.*|--info-script.*|--new-volume-script.*|--rsh-command.*|--rmt-command.*|--absolute-names|-P)$/,
  man: /^(?:-P.*|-H.*|-C.*|--pager.*|--html.*|--config-file.*)$/,
  tree: /^(?:-o.*|-R)$/,
  env: /^(?:-S.*|--split-string.*|-C.*|--chdir.*)$/,
  xargs: /^$/,
  uniq: /^$/,
  rsync: /^(?:-e.*|--rsh.*|--rsync-path.*)$/,
  ssh: /^(?:-o.*|-F.*)$/,
  tee: /^$/,
};

/** Sub-commands of git for which `-c` and `-C` name something harmless. */
const GIT_LOCAL_C = /^(?:commit|switch|diff|log|show|blame|checkout|branch|grep)$/;

/**
 * Whether any argument beyond what the rule spells is such an option, or may turn into one.
 *
 * @param spelled How many of `words` the rule itself spells.
 */
export function hasDangerousOption(program: string, words: readonly ShellWord[], spelled: number): boolean {
  const dangerous = Object.hasOwn(DANGEROUS, program) ? DANGEROUS[program] : undefined;
  if (!dangerous) return false;
  let subcommandAt = -1;
  return words.some((word, at) => {
    if (subcommandAt < 0 && !word.mayBeFlag) subcommandAt = at;
    if (at < spelled) return false;
    if (word.literal === undefined) return word.mayBeFlag;
    const isLocal =
      program === 'git' &&
      subcommandAt >= 0 &&
      subcommandAt < at &&
      GIT_LOCAL_C.test(words[subcommandAt]?.literal ?? '');
    if (isLocal && /^-[cC]/.test(word.literal)) return false;
    return dangerous.test(word.literal);
  });
}
