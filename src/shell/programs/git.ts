/**
 * Judges git: sub-commands that only show, each with its own options.
 *
 * A repository's configuration can run programs (`core.fsmonitor`, `diff.external`). The one around the working
 * directory is checked before git runs there (`src/files/git-repository.ts`), so nothing that points git elsewhere is
 * read-only.
 */
import { flagTable, parseArguments, type ParsedArguments } from '../flags.ts';
import {
  type CommandJudgement,
  HERE,
  judgeProgram,
  NO_PATHS,
  type ProgramSpec,
  type ScriptFacts,
} from '../program-spec.ts';
import type { ShellWord } from '../word.ts';

const GLOBAL_FLAGS = flagTable(
  '--no-pager --version --help --html-path --man-path --info-path --no-optional-locks --literal-pathspecs --no-replace-objects -P -v',
);

const COMMIT_LIMITS =
  '--max-count= -n= --skip= --since= --after= --until= --before= --author= --committer= --grep= --all-match --invert-grep -iEFP -L= --regexp-ignore-case ' +
  '--extended-regexp --fixed-strings --perl-regexp --merges --no-merges --min-parents= --max-parents= --first-parent --not --all --branches? --tags? --remotes? ' +
  '--glob= --exclude= --reflog --walk-reflogs -g --cherry-pick --cherry --cherry-mark --left-right --left-only --right-only --boundary --simplify-by-decoration ' +
  '--full-history --dense --sparse --ancestry-path? --date-order --author-date-order --topo-order --reverse --no-walk? --do-walk --follow --stdin --exclude-first-parent-only';

const FORMATS =
  '--pretty? --format= --abbrev-commit --no-abbrev-commit --oneline --encoding= --expand-tabs? --no-expand-tabs --notes? --no-notes --relative-date ' +
  '--date= --parents --children --graph --show-linear-break? --decorate? --no-decorate --decorate-refs= --decorate-refs-exclude= --clear-decorations --source --use-mailmap --mailmap --no-mailmap --log-size --abbrev? --no-abbrev --show-pulls';

// --output, --ext-diff and --textconv are excluded because they write and run programs; --diff-merges, because a merge
// runs drivers.
const DIFF_FORMATS =
  '-pusRzawbW -B? -U? -M? -C? -D -l= -S= -G= -O= --patch --no-patch --unified? --raw --patch-with-raw --indent-heuristic --no-indent-heuristic --minimal --patience --histogram ' +
  '--anchored= --diff-algorithm= --stat? --compact-summary --numstat --shortstat --dirstat? --cumulative --summary --patch-with-stat --name-only --name-status ' +
  '--submodule? --color? --no-color --color-moved? --no-color-moved --color-moved-ws= --word-diff? --word-diff-regex= --color-words? --no-renames --rename-empty --no-rename-empty ' +
  '--check --ws-error-highlight= --full-index --binary --break-rewrites? --find-renames? --find-copies? --find-copies-harder --irreversible-delete --diff-filter= ' +
  '--pickaxe-all --pickaxe-regex --skip-to= --rotate-to= --relative? --no-relative --text --ignore-cr-at-eol --ignore-space-at-eol --ignore-space-change --ignore-all-space ' +
  '--ignore-blank-lines --ignore-matching-lines= -I= --inter-hunk-context= --function-context --exit-code --quiet --no-ext-diff --no-textconv --ignore-submodules? --src-prefix= --dst-prefix= ' +
  '--no-prefix --default-prefix --line-prefix= --ita-invisible-in-index --cc -cmt --combined-all-paths --no-diff-merges --staged --cached --merge-base -q';

/** Option that names a file with the order of the shown files. */
const ORDER_FILE = ['-O'];

const LOG: ProgramSpec = {
  flags: `${COMMIT_LIMITS} ${FORMATS} ${DIFF_FORMATS}`,
  hasNumbers: true,
  pathFlags: ORDER_FILE,
};
const PLUMBING_DIFF: ProgramSpec = {
  flags: `${FORMATS} ${DIFF_FORMATS} -r --root --stdin -v --no-commit-id`,
  hasNumbers: true,
  pathFlags: ORDER_FILE,
};
const REF_LISTS =
  '--contains? --no-contains? --merged? --no-merged? --points-at= --sort= --format= --color? --no-color --column? --no-column --count= --ignore-case -i --omit-empty';

/** Reject operands unless the options list: an operand would create, move or delete. */
const listsOnly = ({ flags, operands }: ParsedArguments): string | undefined =>
  operands.length === 0 ||
  flags.some(({ name }) => /^(?:--list|-l|--contains|--no-contains|--merged|--no-merged|--points-at)$/.test(name))
    ? undefined
    : 'an operand may make or move something';

/** Sub-commands that only show, by name. */
export const GIT_SUBCOMMANDS: Readonly<Record<string, ProgramSpec>> = {
  log: LOG,
  show: LOG,
  whatchanged: LOG,
  shortlog: {
    flags: `-se -w? -c --group= --summary --numbered --email ${COMMIT_LIMITS.replace(' -n=', ' -n')} ${FORMATS}`,
    hasNumbers: true,
  },
  reflog: { judge: judgeReflog },
  diff: {
    flags: `${FORMATS} ${DIFF_FORMATS} --no-index --base --ours --theirs -0123`,
    hasNumbers: true,
    pathFlags: ORDER_FILE,
  },
  'diff-tree': PLUMBING_DIFF,
  'diff-index': PLUMBING_DIFF,
  'diff-files': PLUMBING_DIFF,
  'range-diff': {
    flags: `${FORMATS} ${DIFF_FORMATS} --creation-factor= --no-dual-color --left-only --right-only`,
    pathFlags: ORDER_FILE,
  },
  status: {
    flags:
      '-sbvz -u? --short --branch --show-stash --porcelain? --long --verbose --untracked-files? --ignore-submodules? --ignored? --column? --no-column --ahead-behind --no-ahead-behind --renames --no-renames --find-renames?',
  },
  'rev-parse': {
    flags:
      '-q --abbrev-ref? --short? --verify --quiet --show-toplevel --show-prefix --show-cdup --git-dir --absolute-git-dir --git-common-dir --is-inside-work-tree --is-inside-git-dir ' +
      '--is-bare-repository --is-shallow-repository --symbolic --symbolic-full-name --all --branches? --tags? --remotes? --show-superproject-working-tree --show-object-format? --git-path= --since= --until= --revs-only --no-revs --flags --no-flags --not --show-ref-format --path-format=',
  },
  'rev-list': {
    flags: `${COMMIT_LIMITS} ${FORMATS} --count --objects --header --timestamp --quiet --disk-usage? --no-object-names --no-commit-header`,
    hasNumbers: true,
  },
  'ls-files': {
    flags:
      '-cdmoistukzvfe -x= -X= --cached --deleted --modified --others --ignored --stage --unmerged --killed --directory --no-empty-directory --eol --deduplicate --exclude= --exclude-from= --exclude-per-directory= --exclude-standard --error-unmatch --full-name --recurse-submodules --abbrev? --format= --resolve-undo --sparse',
    pathFlags: ['--exclude-from', '-X', '--exclude-per-directory'],
  },
  'ls-tree': {
    flags: '-drtlz --long --name-only --name-status --object-only --full-name --full-tree --abbrev? --format=',
  },
  'cat-file': {
    flags:
      '-teps --batch? --batch-check? --batch-all-objects --follow-symlinks --unordered --buffer --allow-unknown-type',
  },
  blame: {
    flags:
      '-bceflnpstw -C? -L= -S= -M? --root --show-stats --porcelain --line-porcelain --incremental --encoding= --date= --score-debug --show-name --show-number --show-email --abbrev= --ignore-rev= --ignore-revs-file= --color-lines --color-by-age --first-parent --since= --reverse',
    pathFlags: ['--ignore-revs-file', '-S'],
  },
  annotate: { flags: '-bceflnpstw -L= --date=' },
  // -O opens the matching files in a pager.
  grep: {
    flags:
      '-aIiwvhHEGFPnlLzcopWqr -f= -e= -A= -B= -C= -m= --cached --no-index --untracked --text --ignore-case --word-regexp --invert-match --full-name --extended-regexp --basic-regexp ' +
      '--fixed-strings --perl-regexp --line-number --column --files-with-matches --name-only --files-without-match --null --only-matching --count --color? --no-color --break --heading ' +
      '--show-function --function-context --context= --after-context= --before-context= --max-depth= --recursive --no-recursive --threads= --and --or --not --all-match --quiet --exclude-standard --no-exclude-standard --max-count= --recurse-submodules',
    hasNumbers: true,
    pathFlags: ['-f'],
  },
  branch: {
    flags: `-arvlq --all --remotes --list --verbose --show-current --abbrev? --no-abbrev ${REF_LISTS}`,
    check: listsOnly,
  },
  tag: { flags: `-l -n? --list ${REF_LISTS}`, check: listsOnly },
  'for-each-ref': { flags: `--shell --perl --python --tcl --stdin --exclude= ${REF_LISTS}` },
  'show-ref': {
    flags: '-qsd --head --heads --branches --tags --dereference --hash? --verify --quiet --abbrev? --exists',
  },
  'show-branch': {
    flags:
      '-arg --all --remotes --topo-order --date-order --sparse --more= --list --merge-base --independent --no-name --sha1-name --topics --current --color? --no-color',
  },
  'merge-base': { flags: '-a --all --octopus --independent --is-ancestor --fork-point' },
  'name-rev': { flags: '--tags --refs= --exclude= --all --name-only --no-undefined --always --annotate-stdin --stdin' },
  describe: {
    flags:
      '--dirty? --broken? --all --tags --contains --abbrev= --candidates= --exact-match --debug --long --match= --exclude= --always --first-parent',
  },
  'check-ignore': { flags: '-qvnz --quiet --verbose --stdin --non-matching --no-index' },
  'check-attr': { flags: '-az --all --cached --stdin --source=' },
  'check-mailmap': { flags: '--stdin' },
  'check-ref-format': { flags: '--branch --normalize --allow-onelevel --refspec-pattern' },
  // Each of these four disables applying; --apply would enable it again.
  apply: {
    flags: '-vzR -p= --stat --numstat --summary --check --verbose --reverse --recount --include= --exclude=',
    check: ({ flags }) =>
      flags.some(({ name }) => /^--(?:stat|numstat|summary|check)$/.test(name)) ? undefined : 'git apply changes files',
  },
  'count-objects': { flags: '-vH --verbose --human-readable' },
  cherry: { flags: '-v --abbrev?' },
  // -l shows all settings, including those of the user and their secrets.
  var: { flags: '' },
  version: { flags: '--build-options' },
  stash: {
    subcommands: {
      list: LOG,
      show: {
        flags: `${DIFF_FORMATS} --include-untracked --only-untracked`,
        hasNumbers: true,
        pathFlags: ORDER_FILE,
      },
    },
    check: () => undefined,
  },
  remote: { judge: judgeRemote },
  config: { judge: judgeConfig },
  worktree: { subcommands: { list: { flags: '-vz --verbose --porcelain' } } },
  submodule: {
    subcommands: { status: { flags: '--cached --recursive' }, summary: { flags: '--cached --files -n=' } },
    flags: '-q --quiet',
  },
  notes: { subcommands: { list: { flags: '' }, show: { flags: '' } } },
  bisect: { subcommands: { log: { flags: '' } } },
  'symbolic-ref': { flags: '-q --quiet --short', maxOperands: 1 },
};

/** The spec of git. */
export const GIT: ProgramSpec = { judge: judgeGit };

function judgeGit(words: readonly ShellWord[], facts: ScriptFacts): CommandJudgement {
  const deny = (problem: string): CommandJudgement => ({ problem, reads: NO_PATHS });
  if (facts.changesDirectory) return deny('git may be run in another repository');
  const at = words.findIndex((word) => !word.mayBeFlag);
  const globals = parseArguments(at < 0 ? words : words.slice(0, at), { flags: GLOBAL_FLAGS });
  if (globals.problem !== undefined) return deny(globals.problem);
  if (at < 0) return { reads: NO_PATHS };
  const name = words[at]?.literal;
  const spec = name !== undefined && Object.hasOwn(GIT_SUBCOMMANDS, name) ? GIT_SUBCOMMANDS[name] : undefined;
  if (!spec) return deny(`"git ${words[at]?.text ?? ''}" is not known to only read`);
  const rest = words.slice(at + 1);
  if (words.some(mayRunProgram)) return deny('git may run another program');
  const judged = judgeProgram(spec, rest, facts);
  const operands = rest.filter((word) => !word.mayBeFlag);
  const isPatternFirst = name === 'grep' && !rest.some((word) => /^-[ef]/.test(word.literal ?? ''));
  const reads = (isPatternFirst ? operands.slice(1) : operands).flatMap(namedFiles);
  if (name === 'grep')
    return { ...judged, reads: [...judged.reads, ...(reads.length > 0 ? reads : [HERE])], isTree: true };
  if (!printsContents(name ?? '', rest)) return { ...judged, reads: [...judged.reads, ...reads] };
  // Prints contents of any file of the repository, unless paths are given after `--`.
  const named = rest.slice(rest.findIndex(({ literal }) => literal === '--') + 1);
  const isNarrow = rest.length > named.length && named.length > 0;
  return { ...judged, reads: [...judged.reads, ...(isNarrow ? named : [...reads, HERE])], isTree: true };
}

/** Options that print a patch, and options that suppress it. */
const PATCH = /^(?:-\w*[pu]\w*|-[UWc].*|--(?:patch|unified|binary|word-diff|color-words|cc|function-context).*)$/;
const NO_PATCH =
  /^(?:-\w*[sq]\w*|--(?:no-patch|stat|shortstat|numstat|dirstat|summary|name-only|name-status|raw|quiet|compact-summary).*)$/;
/** Sub-commands that print a patch by default, and those that print one only on demand. */
const PATCH_BY_DEFAULT = /^(?:diff|show|range-diff)$/;
const PATCH_ON_DEMAND = /^(?:log|whatchanged|reflog|stash|diff-tree|diff-index|diff-files|cherry)$/;

/**
 * Report whether a sub-command prints contents of files, present or past, that its words do not name. A deny rule may
 * protect one of them, and a mask over the file does not hide what the repository stores of it.
 */
function printsContents(name: string, words: readonly ShellWord[]): boolean {
  const has = (option: RegExp) =>
    words.some(({ literal, mayBeFlag }) => (literal === undefined ? mayBeFlag : option.test(literal)));
  const operands = words.filter(({ mayBeFlag }) => !mayBeFlag);
  // `git show HEAD:file` names the file that it prints.
  if (name === 'show' && operands.length > 0 && operands.every(({ literal }) => literal?.includes(':'))) return false;
  if (PATCH_BY_DEFAULT.test(name)) return has(PATCH) || !words.some(({ literal }) => NO_PATCH.test(literal ?? ''));
  if (PATCH_ON_DEMAND.test(name)) return has(PATCH);
  if (name === 'cat-file') return has(/^(?:-\w*p\w*|--batch.*|blob|--textconv|--filters)$/);
  return name === 'status' && has(/^(?:-\w*v\w*|--verbose)$/);
}

/**
 * Words that make git run another program: --help opens a manual page; a format or sort key with %G or %(signature)
 * runs gpg; with --submodule=diff git runs itself in folders that only old commits name.
 */
const RUNS_PROGRAM = /^--help$|^--submodule=(?!log$|short$)|%G|(?:%\(|^--sort=-?|^-?)(?:v(?:ersion)?:)?\*?signature\b/;

/** Report whether a word makes git run another program, or may become such a format at run time. */
function mayRunProgram(word: ShellWord, at: number, words: readonly ShellWord[]): boolean {
  if (word.literal !== undefined) return RUNS_PROGRAM.test(word.literal);
  if (RUNS_PROGRAM.test(word.text) || word.patterns?.some((text) => RUNS_PROGRAM.test(text))) return true;
  const isFormat =
    /^--(?:format|sort|group)$/.test(words[at - 1]?.literal ?? '') ||
    /^--(?:format|pretty|sort|group|submodule)=/.test(word.prefix);
  return isFormat && word.patterns === undefined;
}

/** List the paths that an operand may name: a revision, a path, or a path after a revision (`HEAD:.env`). */
function namedFiles(word: ShellWord): readonly ShellWord[] {
  const paths = word.patterns?.flatMap((pattern) => pattern.split(/:(.+)/s)[1] ?? []) ?? [];
  return [word, ...paths.map((path) => ({ ...word, literal: undefined, patterns: [path], prefix: path }))];
}

function judgeReflog(words: readonly ShellWord[], facts: ScriptFacts): CommandJudgement {
  const verb = words[0]?.literal;
  const isVerb = verb === 'show' || verb === 'list' || verb === 'exists';
  const isDestructive =
    verb === 'expire' || verb === 'delete' || verb === 'drop' || verb === 'write' || words[0]?.literal === undefined;
  if (words.length > 0 && isDestructive) return { problem: 'git reflog may delete', reads: NO_PATHS };
  return judgeProgram(LOG, isVerb ? words.slice(1) : words, facts);
}

/** Judge git remote: `remote show NAME` uses the network unless `-n` is given. */
function judgeRemote(words: readonly ShellWord[]): CommandJudgement {
  const text = words.map((word) => word.literal ?? '\0').join(' ');
  const isShown = /^(?:-v|--verbose|show -n [\w./-]+|show|get-url (?:--all |--push )?[\w./-]+|)$/.test(text);
  return { reads: NO_PATHS, ...(!isShown && { problem: 'git remote may change or contact a remote' }) };
}

const CONFIG_READS = /^(?:--get|--get-all|--get-regexp|--get-urlmatch|--list|-l)$/;
/**
 * Settings without secrets. Other user settings may contain some: `http.*.extraHeader`, `url.*.insteadOf`,
 * `github.token`.
 */
const PUBLIC_CONFIG =
  /^(?:(?:user|author|committer)\.(?:name|email|signingkey)|(?:core|init|pull|push|fetch|merge|rebase|diff|log|status|commit|tag|color|column|advice|format|grep|blame|rerere|gc|index|pack|safe|i18n|extensions|feature|interactive|transfer|receive|submodule|branch)\.[\w./-]+|remote\.[\w./-]+\.(?:url|pushurl|fetch))$/i;
const CONFIG_FLAGS = flagTable(
  '-zl --get --get-all --get-regexp --list --local --global --system --worktree --show-origin --show-scope --name-only --null --type= --bool --int --path --includes --no-includes --default= --all --regexp --get-urlmatch',
);

/** Judge git config: `NAME` reads, `NAME VALUE` writes, and a value may also be `list`. */
function judgeConfig(words: readonly ShellWord[]): CommandJudgement {
  const { flags, operands, problem } = parseArguments(words, { flags: CONFIG_FLAGS });
  const verb = /^(?:get|list)$/.exec(operands[0]?.literal ?? '')?.[0];
  const isRead = verb !== undefined || flags.some(({ name }) => CONFIG_READS.test(name));
  const isPlainName = operands.length === 1 && /^[\w-]+(?:\.[\w./:-]+)+$/.test(operands[0]?.literal ?? '');
  const has = (option: RegExp) => flags.some(({ name }) => option.test(name));
  const isOpen =
    has(/^--(?:local|worktree)$/) ||
    (!has(/regexp$|urlmatch$|^--list$|^-l$/) &&
      PUBLIC_CONFIG.test(operands[verb === undefined ? 0 : 1]?.literal ?? ''));
  const wrong =
    problem ??
    (isRead || isPlainName ? undefined : 'git config may write') ??
    (isOpen ? undefined : 'git config may show secrets that the user or the system keeps there');
  return { reads: NO_PATHS, ...(wrong !== undefined && { problem: wrong }) };
}
