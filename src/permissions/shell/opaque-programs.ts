/**
 * Programs that run text which their words do not show: scripts of a project, files of commands, plug-ins, packages
 * that are fetched, helpers that settings name.
 *
 * Interpreters whose text may stand in their words are in `opaque.ts`; programs that run one of their words are in
 * `launchers.ts`.
 */
import { takesNextWord } from './value-options.ts';

/** Conditions under which the text is not shown. Without any of them it never is. */
interface OpaqueUse {
  /** One of the words, options and their values alike. */
  readonly words?: RegExp;
  /** The first operand: a sub-command. */
  readonly command?: RegExp;
  /** What follows, or all words where no sub-command is asked for, is a tool that everybody knows. */
  readonly unless?: RegExp;
  /** Its commands come in by its input, which is not written out. */
  readonly isFed?: true;
}

/** Tools of packages that look at sources, or rewrite them, as their words say. */
const KNOWN_TOOL =
  /^(?:(?:-y|--yes|--no|--no-install|-q|--quiet|-s|--silent|--bun|--) )*(?:eslint|prettier|tsc|biome|oxlint|stylelint|markdownlint|markdownlint-cli2?|cspell|knip|depcheck|madge|cloc|sort-package-json|dprint|ruff|black|isort|flake8|mypy|pyright|pylint)(?:@[\w.^~-]+)?(?: |$)/;

/** Whatever is no command of these package managers is the name of a script. */
const SCRIPT_NAME =
  /^(?!(?:add|approve-builds|audit|autoclean|bin|cache|cat-file|cat-index|check|ci|config|constraints|dedupe|deploy|dlx|doctor|env|exec|explain|fetch|find-hash|generate-lock-entry|get|global|help|i|import|info|init|install|la|licenses|link|list|ll|ln|login|logout|ls|node|npm|outdated|owner|pack|patch|patch-commit|plugin|policies|prune|publish|rb|rebuild|recursive|remove|rm|root|search|self-update|server|set|setup|stage|store|tag|team|un|uninstall|unlink|unplug|up|update|upgrade|upgrade-interactive|version|versions|view|why|workspace|workspaces|eslint|prettier|tsc|biome)$)/;

const EDITOR: OpaqueUse = {
  words:
    /^(?:-[SsuxlT]|--(?:command|script|load|batch-script)(?:=.*)?)$|^(?:--?cmd=|\+|:)*(?:so|source|ru|runtime|luafile|py3?file|rubyfile)!?\s/,
};
const LISP_EDITOR: OpaqueUse = { words: /^(?:-[lfx]|-?-(?:eval|execute|funcall|load|script|batch-script))(?:=|$)/ };
const PLUGIN: OpaqueUse = { words: /^--?plugin(?:=|$)|^@/ };
const COMPILER: OpaqueUse = {
  words: /^-f(?:plugin|pass-plugin)\b|^-(?:B|specs=|iplugindir|load|-plugin)|^-Wl,.*plugin|^-Xlinker$|^@/,
};
const APT: OpaqueUse = { words: /(?:Pre|Post)-(?:Invoke|Install)|Dir::(?:Bin|Etc)|::Proxy-Auto|^-c|^--config/i };
const TERMINAL_MULTIPLEXER: OpaqueUse = { words: /^-[cf]$|^source(?:-file)?$/ };
const TEX: OpaqueUse = { words: /^--?(?:shell-escape|enable-write18)|^-cnf-line/ };

/** One line for several programs: names, then when their text is not shown. */
const uses: readonly (readonly [names: string, use: OpaqueUse])[] = [
  // Builders, and runners of tasks and tests: what they run stands in files of the project.
  [
    'make gmake bmake just task rake invoke ninja samu scons waf cmake ctest cpack mvn mvnw mvnd gradle gradlew ant sbt lein bazel bazelisk ' +
      'buck buck2 pants tox nox pytest py.test jest vitest mocha ava tap tape karma cypress playwright gulp grunt phpunit pest rspec cucumber behave ' +
      'bats pre-commit husky lint-staged npm-run-all npm-run-all2 run-s run-p nodemon latexmk rpmbuild debuild dpkg-buildpackage makepkg rebar3 unittest nose2 doctest',
    {},
  ],
  [
    'source . crontab tsx ts-node vite-node esno swc-node java kotlin runghc runhaskell scheme ghci csi gsi clisp ecl bb jshell pdb cProfile runpy',
    {},
  ],
  ['run-parts logrotate anacron supervisord foreman honcho overmind forever pm2 procmail vagrant packer', {}],
  ['ansible-playbook ansible-pull ansible-console wish supervisorctl act earthly dagger', {}],
  ['meson', { command: /^(?:test|compile|install|dist|devenv|setup)$/ }],
  ['npm', { command: /^(?:run|run-script|rum|urn|test|t|tst|start|stop|restart)$/ }],
  // With options alone it asks its own questions.
  ['npm', { command: /^(?:init|innit|create)$/, unless: /^(?:-\S+(?: |$))*$/ }],
  ['bun', { command: /^(?:run|test|create|repl|\S+\.[cm]?[jt]sx?)$/ }],
  ['yarn', { command: /^workspaces$/, unless: /^(?:list|info|focus)(?: |$)/ }],
  ['yarn pnpm', { command: SCRIPT_NAME }],
  ['coverage', { command: /^run$/ }],
  ['deno', { command: /^(?:run|task|test|bench|serve|repl|jupyter|x|install|compile|\S+\.[cm]?[jt]sx?|\w+:\S+)$/ }],
  ['go', { command: /^(?:run|generate|test)$/ }],
  ['cargo', { command: /^(?:run|r|test|t|bench|nextest|miri)$/ }],
  ['dotnet', { command: /^(?:run|test|watch|exec|msbuild|script|\S+\.dll)$/ }],
  ['swift', { command: /^(?:run|test|\S+\.swift)$/ }],
  ['zig', { command: /^(?:run|test|build)$/ }],
  ['dart flutter', { command: /^(?:run|test|drive|\S+\.dart)$/ }],
  ['mix', { command: /^(?:run|test|do)$/ }],
  ['cabal stack', { command: /^(?:run|test|bench|exec|runghc|script)$/ }],
  ['composer', { command: /^(?:run|run-script|test|exec)$/ }],
  ['nim crystal v', { command: /^(?:r|run|spec|test)$/ }],
  ['hatch pdm rye poe', { command: /^(?:run|test)$/ }],
  ['turbo nx lerna moon wireit', { command: /^(?:run|run-many|exec|test|build|affected)$/ }],
  ['rails', { command: /^(?:runner|r|console|c|test)$/ }],
  ['terraform tofu', { command: /^(?:apply|destroy|plan|refresh|import|console|test)$/ }],
  ['pulumi', { command: /^(?:up|update|preview|pre|destroy|refresh)$/ }],
  ['cdk serverless sls', { command: /^(?:deploy|synth|diff|destroy|invoke)$/ }],
  // Runners of packages, which fetch what is not there.
  ['npx bunx pnpx uvx', { unless: KNOWN_TOOL }],
  ['npm pnpm', { command: /^(?:exec|x|dlx)$/, unless: KNOWN_TOOL }],
  ['yarn', { command: /^dlx$/, unless: KNOWN_TOOL }],
  ['bun', { command: /^x$/, unless: KNOWN_TOOL }],
  ['pipx uv', { command: /^run$/, unless: KNOWN_TOOL }],
  ['uv', { command: /^tool$/ }],
  // Plug-ins, engines, and settings that name programs.
  ['gcc g++ cc c++ cpp clang clang++ gfortran gdc gnat', COMPILER],
  ['tcc', { words: /^-run$|^-B/ }],
  ['ld ld.bfd ld.gold ld.lld lld nm objdump objcopy strip ar ranlib size as gcc-ar gcc-nm gcc-ranlib', PLUGIN],
  ['rustc', { words: /^(?:-C|--codegen=?)?(?:linker|llvm-args|plugin)|^-Z|^@/ }],
  ['javac', { words: /^-{1,2}(?:processor|processor-?path|processor-module-path|J\S+|Xplugin\S*)|^@/ }],
  ['openssl', { words: /^--?(?:engine|provider|provider-path|config|engine_impl|ssl_client_engine)$|^engine$/ }],
  ['ssh scp sftp', { words: /^-[FIS]/ }],
  ['ssh scp sftp ssh-add ssh-keygen', { words: /PKCS11Provider|SecurityKeyProvider|XAuthLocation|Include\b/i }],
  ['sftp', { words: /^-b/ }],
  ['ssh-add ssh-keygen ssh-agent', { words: /^-[DsSw]$/ }],
  ['sshd', {}],
  ['wget', { words: /^(?:-e|--execute|--config|--use-askpass)/ }],
  ['apt apt-get aptitude apt-cache', APT],
  ['dpkg', { words: /^--(?:pre|post)-invoke|^--admindir|^--root|^--instdir/ }],
  ['helm', { words: /^--post-renderer/ }],
  ['nmap', { words: /^--?(?:script|sC$|A$|interactive|datadir|servicedb)/ }],
  ['perf', { words: /^(?:script|trace)$/ }],
  ['rpm', { words: /^(?:-\w*[ED]|--(?:eval|define|load|macros|pipe|rcfile))/ }],
  ['fzf sk', { words: /(?:execute|become|reload|transform)[\w-]*[([{:]/ }],
  ['pwsh powershell', { words: /^--?[ef]/i }],
  ['less', { words: /^(?:-k|--lesskey)/ }],
  ['mpv', { words: /^--(?:scripts?|include|input-conf|config-dir)(?:=|$)/ }],
  ['gs', { words: /^-d(?:NOSAFER|DELAYSAFER)/ }],
  ['tex latex pdftex pdflatex xelatex lualatex luatex', TEX],
  ['go', { words: /^-?-(?:vettool|toolexec|exec|overlay)\b/ }],
  ['cargo', { words: /^--config(?:=|$)/ }],
  ['hg', { words: /^(?:--config=)?(?:extensions|hooks|pager|ui|merge-tools|diff-tools|extdiff)\.\S+=/ }],
  ['git', { command: /^(?:mergetool|difftool|citool|gui|instaweb|send-email|hook|web--browse|help--browse)$/ }],
  [
    'git',
    {
      words:
        /^--(?:ext-diff|textconv|filters)$|^(?:-c|--config-env=)?[\w.-]+\.(?:pager|editor|cmd|command|textconv|driver|clean|smudge|process|helper|program|external|askpass|sshcommand|fsmonitor|gitproxy|path)=.*\//i,
    },
  ],
  // Programs that take a connection for the input of another one.
  ['socat', { words: /^(?:exec|system|shell)[:,]/i }],
  ['nc ncat netcat', { words: /^(?:-\w*[ce]|--(?:sh-)?exec|--lua-exec)(?:=|$)/ }],
  // Editors, and clients with commands of their own.
  ['vi vim nvim view ex ed gdb lldb', EDITOR],
  ['emacs emacsclient', LISP_EDITOR],
  ['tmux screen byobu', TERMINAL_MULTIPLEXER],
  ['ed ftp tnftp', { isFed: true }],
  ['ex', { words: /^-\w*[sSc]$/, isFed: true }],
  ['awk', { words: /^(?:-[fEil]|--(?:f|i|l|e))/ }],
  // `e` runs what the input says.
  ['sed', { words: /^\d*\$?!?e$|[^\w\s\\][gpiIm0-9]*e[gpiIm0-9]*\s*(?:[;}\n]|$)/ }],
  ['sed', { words: /^(?:-[nErsuz]*f|--f)/ }],
];

const byProgram = new Map<string, OpaqueUse[]>();
for (const [names, use] of uses)
  for (const name of names.split(' ')) byProgram.set(name, [...(byProgram.get(name) ?? []), use]);

/**
 * Whether a program of the table runs text that its words do not show.
 *
 * @param texts Its words, its own name not among them.
 * @param input Its standard input, where that is written out.
 */
export function runsHiddenText(program: string, texts: readonly string[], input: string | undefined): boolean {
  return byProgram.get(program)?.some((use) => isHiding(use, program, texts, input)) === true;
}

function isHiding(use: OpaqueUse, program: string, texts: readonly string[], input: string | undefined): boolean {
  const { words, command, unless, isFed } = use;
  if (isFed === true && input !== undefined) return false;
  if (words && !texts.some((text) => words.test(text))) return false;
  if (!command) return unless?.test(texts.join(' ')) !== true;
  return commandPlaces(program, texts).some(
    (at) => command.test(texts[at] ?? '') && unless?.test(texts.slice(at + 1).join(' ')) !== true,
  );
}

/** Places where the sub-command may stand: of options that are in no table, both readings count. */
function commandPlaces(program: string, texts: readonly string[]): readonly number[] {
  const places: number[] = [];
  for (let at = 0; at < texts.length; at++) {
    const text = texts[at] ?? '';
    if (/^[-+]/.test(text)) at += takesNextWord(program, text) ? 1 : 0;
    else if (places.push(at) && !/^[-+]/.test(texts[at - 1] ?? '')) break;
  }
  return places;
}

/** Whether the table says all there is to say of a program. */
export function isTabled(program: string): boolean {
  return byProgram.has(program);
}
