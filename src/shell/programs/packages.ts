/** Package managers, and programs that run installed packages. */
import type { ProgramRecord } from '../program-record.ts';
import { isGiven } from '../flags.ts';
import { subcommandsWith } from '../program-spec.ts';

const APT_FLAGS = '-anf --names-only --installed --all-versions --no-all-versions --recurse';

/** Well-known tools of packages, which examine or rewrite sources as their words say. */
const KNOWN_TOOL =
  /^(?:(?:-y|--yes|--no|--no-install|-q|--quiet|-s|--silent|--bun|--) )*(?:eslint|prettier|tsc|biome|oxlint|stylelint|markdownlint|markdownlint-cli2?|cspell|knip|depcheck|madge|cloc|sort-package-json|dprint|ruff|black|isort|flake8|mypy|pyright|pylint)(?:@[\w.^~-]+)?(?: |$)/;

/** Matches words that are no command of these package managers, hence names of scripts. */
const SCRIPT_NAME =
  /^(?!(?:add|approve-builds|audit|autoclean|bin|cache|cat-file|cat-index|check|ci|config|constraints|dedupe|deploy|dlx|doctor|env|exec|explain|fetch|find-hash|generate-lock-entry|get|global|help|i|import|info|init|install|la|licenses|link|list|ll|ln|login|logout|ls|node|npm|outdated|owner|pack|patch|patch-commit|plugin|policies|prune|publish|rb|rebuild|recursive|remove|rm|root|search|self-update|server|set|setup|stage|store|tag|team|un|uninstall|unlink|unplug|up|update|upgrade|upgrade-interactive|version|versions|view|why|workspace|workspaces|eslint|prettier|tsc|biome)$)/;

/** Package managers. */
export const PACKAGES: readonly ProgramRecord[] = [
  {
    names: 'dpkg',
    reads: {
      flags:
        '-lLsSpV --list --listfiles --status --search --print-avail --get-selections --print-architecture --verify --audit -C',
      check: ({ flags }) => (flags.length > 0 ? undefined : 'dpkg lacks an action'),
    },
    isCoveredWhole: true,
    hiddenText: [{ words: /^--(?:pre|post)-invoke|^--admindir|^--root|^--instdir/ }],
  },
  {
    names: 'dpkg-query',
    reads: {
      flags: '-lLsSWp -f= --list --listfiles --status --search --show --showformat=',
      check: ({ flags }) => (flags.length > 0 ? undefined : 'dpkg-query lacks an action'),
    },
    isCoveredWhole: true,
  },
  {
    names: 'rpm',
    reads: {
      flags:
        '-qailRcdf --query --all --info --list --requires --provides --whatrequires --changelog --last --scripts --configfiles --docfiles',
      check: ({ flags }) => (isGiven(flags, '-q', '--query') ? undefined : 'rpm does more than query'),
    },
    isCoveredWhole: true,
    hiddenText: [{ words: /^(?:-\w*[ED]|--(?:eval|define|load|macros|pipe|rcfile))/ }],
  },
  {
    names: 'apt',
    reads: {
      flags: '-v --version --help',
      subcommands: subcommandsWith(
        'list search show policy depends rdepends',
        `${APT_FLAGS} --upgradable --manual-installed`,
      ),
    },
    hasOperandsBehindDashes: true,
    hiddenText: [{ words: /(?:Pre|Post)-(?:Invoke|Install)|Dir::(?:Bin|Etc)|::Proxy-Auto|^-c|^--config/i }],
    suggests: 'subcommand',
    restartable: /^/,
  },
  {
    names: 'apt-cache',
    reads: { subcommands: subcommandsWith('search show policy depends rdepends showpkg madison pkgnames', APT_FLAGS) },
    hiddenText: [{ words: /(?:Pre|Post)-(?:Invoke|Install)|Dir::(?:Bin|Etc)|::Proxy-Auto|^-c|^--config/i }],
    restartable: /^/,
  },
  {
    names: 'uv',
    reads: { alone: '--version -V' },
    runsBehind: /^run$/,
    hiddenText: [{ command: /^run$/, unless: KNOWN_TOOL }, { command: /^tool$/ }],
    suggests: 'subcommand',
    restartable: /^(?:\w+ )?(?:install|sync|add)\b/,
  },
  {
    names: 'gem',
    reads: { alone: '--version -v' },
    hasOperandsBehindDashes: true,
    warnings: [{ words: /^(?:publish|push)/, sentence: 'Publishes to others' }],
    suggests: 'subcommand',
    restartable: /^install\b/,
  },
  {
    names: 'pipx',
    reads: { alone: '--version' },
    runsBehind: /^run$/,
    hasOperandsBehindDashes: true,
    hiddenText: [{ command: /^run$/, unless: KNOWN_TOOL }],
    suggests: 'subcommand',
    restartable: /^(?:\w+ )?(?:install|sync|add)\b/,
  },
  { names: 'virtualenv', reads: { alone: '--version' } },
  {
    names: 'conda',
    reads: { alone: '--version -V' },
    runsBehind: /^run$/,
    suggests: 'subcommand',
    restartable: /^(?:\w+ )?(?:install|sync|add)\b/,
  },
  {
    names: 'apt-get',
    reads: { alone: '--version -v' },
    hasOperandsBehindDashes: true,
    hiddenText: [{ words: /(?:Pre|Post)-(?:Invoke|Install)|Dir::(?:Bin|Etc)|::Proxy-Auto|^-c|^--config/i }],
    suggests: 'subcommand',
    restartable: /^/,
  },
  {
    names: 'brew',
    reads: { alone: '--version -v' },
    hasOperandsBehindDashes: true,
    suggests: 'subcommand',
    restartable: /^/,
  },
  {
    names: 'pip',
    aliases: 'pip3',
    isVersioned: true,
    reads: {
      flags: '-V --version',
      subcommands: { show: { flags: '-f --files' }, freeze: { flags: '-l --local --user --all --exclude-editable' } },
    },
    hasOperandsBehindDashes: true,
    suggests: 'subcommand',
    restartable: /^/,
  },
  {
    names: 'yarn',
    commandGroup: { words: /^workspace$/, length: 2 },
    runsBehind: /^(?:exec|dlx)$/,
    hasOperandsBehindDashes: true,
    hiddenText: [
      { command: /^workspaces$/, unless: /^(?:list|info|focus)(?: |$)/ },
      { command: SCRIPT_NAME },
      { command: /^dlx$/, unless: KNOWN_TOOL },
    ],
    hasUnrelatedWriteOptions: true,
    warnings: [{ words: /^(?:publish|push)/, sentence: 'Publishes to others' }],
    suggests: 'subcommand',
    isScriptRunner: true,
    restartable: /^(?:$|(?:i|ci|install|add|update|upgrade|(?:run )?(?:dev|start|serve|watch|preview))\b)/,
  },
  { names: 'npx bunx pnpx uvx', isLauncher: true, hiddenText: [{ unless: KNOWN_TOOL }] },
  { names: 'mise volta', isLauncher: true, suggests: 'subcommand' },
  { names: 'asdf rbenv pyenv nvm fnm corepack', isLauncher: true },
  {
    names: 'bun',
    runsBehind: /^x$/,
    language: 'program',
    hiddenText: [{ command: /^(?:run|test|create|repl|\S+\.[cm]?[jt]sx?)$/ }, { command: /^x$/, unless: KNOWN_TOOL }],
    suggests: 'subcommand',
    isScriptRunner: true,
    restartable: /^(?:i|ci|install|add|update|upgrade|(?:run )?(?:dev|start|serve|watch|preview))\b/,
  },
  {
    names: 'npm',
    runsBehind: /^(?:exec|x)$/,
    hasOperandsBehindDashes: true,
    valueOptions: '-C --prefix -w --workspace --registry --tag --otp --loglevel --userconfig',
    hiddenText: [
      { command: /^(?:run|run-script|rum|urn|test|t|tst|start|stop|restart)$/ },
      // With options only, it asks its own questions.
      { command: /^(?:init|innit|create)$/, unless: /^(?:-\S+(?: |$))*$/ },
      { command: /^(?:exec|x|dlx)$/, unless: KNOWN_TOOL },
    ],
    hasUnrelatedWriteOptions: true,
    warnings: [{ words: /^(?:publish|push)/, sentence: 'Publishes to others' }],
    suggests: 'subcommand',
    isScriptRunner: true,
    restartable: /^(?:i|ci|install|add|update|upgrade|(?:run )?(?:dev|start|serve|watch|preview))\b/,
    subcommandNames: {
      i: 'install',
      add: 'install',
      in: 'install',
      rm: 'uninstall',
      un: 'uninstall',
      remove: 'uninstall',
    },
  },
  {
    names: 'pnpm',
    runsBehind: /^(?:exec|dlx)$/,
    hasOperandsBehindDashes: true,
    hiddenText: [{ command: SCRIPT_NAME }, { command: /^(?:exec|x|dlx)$/, unless: KNOWN_TOOL }],
    hasUnrelatedWriteOptions: true,
    warnings: [{ words: /^(?:publish|push)/, sentence: 'Publishes to others' }],
    suggests: 'subcommand',
    isScriptRunner: true,
    restartable: /^(?:i|ci|install|add|update|upgrade|(?:run )?(?:dev|start|serve|watch|preview))\b/,
  },
  { names: 'bundle', runsBehind: /^exec$/, suggests: 'subcommand', restartable: /^install\b/ },
  { names: 'poetry', runsBehind: /^run$/, suggests: 'subcommand', restartable: /^(?:\w+ )?(?:install|sync|add)\b/ },
  { names: 'pipenv', runsBehind: /^run$/, suggests: 'subcommand' },
  { names: 'nix', runsBehind: /^(?:-c|--command|run)$/, suggests: 'subcommand' },
  { names: 'dnf yum apk', hasOperandsBehindDashes: true, suggests: 'subcommand', restartable: /^/ },
  {
    names: 'composer',
    hasOperandsBehindDashes: true,
    hiddenText: [{ command: /^(?:run|run-script|test|exec)$/ }],
    suggests: 'subcommand',
    restartable: /^install\b/,
  },
  { names: 'hatch pdm rye poe', hiddenText: [{ command: /^(?:run|test)$/ }] },
  {
    names: 'aptitude',
    hiddenText: [{ words: /(?:Pre|Post)-(?:Invoke|Install)|Dir::(?:Bin|Etc)|::Proxy-Auto|^-c|^--config/i }],
    restartable: /^/,
  },
  { names: 'twine', warnings: [{ words: /^(?:publish|push)/, sentence: 'Publishes to others' }] },
  { names: 'nix-shell', suggests: 'nothing' },
  { names: 'apt-key apt-mark pacman', restartable: /^/ },
  { names: 'mamba', restartable: /^(?:\w+ )?(?:install|sync|add)\b/ },
];
