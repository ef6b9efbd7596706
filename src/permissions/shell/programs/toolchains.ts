/** Compilers, interpreters and package managers: what they tell of themselves, and little else. */
import { type CommandJudgement, NO_PATHS, type ProgramSpec } from '../program-spec.ts';

/**
 * Each with the arguments that make it tell its version and end, as `--help` does; some read code on others.
 *
 * Not here: pytest runs `conftest.py` before it answers, terraform asks the network, ansible makes folders.
 */
const VERSION_ARGUMENTS: Readonly<Record<string, string>> = {
  node: '--version -v',
  nodejs: '--version -v',
  npm: '--version -v',
  npx: '--version -v',
  deno: '--version -V',
  bun: '--version -v',
  tsc: '--version -v',
  python: '--version -V -VV',
  python2: '--version -V',
  python3: '--version -V -VV',
  pip: '--version -V',
  pip3: '--version -V',
  uv: '--version -V',
  ruby: '--version -v',
  gem: '--version -v',
  bundle: '--version -v',
  perl: '--version -v',
  php: '--version -v',
  lua: '-v',
  go: 'version',
  rustc: '--version -V -vV',
  cargo: '--version -V',
  rustup: '--version -V',
  gcc: '--version',
  'g++': '--version',
  clang: '--version',
  'clang++': '--version',
  cc: '--version',
  ld: '--version -v',
  as: '--version',
  java: '-version --version',
  javac: '-version --version',
  kotlinc: '-version',
  scala: '-version --version',
  mvn: '--version -v',
  dotnet: '--version --info --list-sdks --list-runtimes',
  make: '--version -v',
  cmake: '--version',
  ninja: '--version',
  docker: '--version -v',
  'docker-compose': '--version',
  podman: '--version -v',
  vim: '--version',
  nvim: '--version',
  emacs: '--version',
  bash: '--version',
  sh: '--version',
  zsh: '--version',
  fish: '--version',
  tmux: '-V',
  curl: '--version -V',
  wget: '--version -V',
  ssh: '-V',
  rsync: '--version',
  sqlite3: '--version -version',
  psql: '--version -V',
  mysql: '--version -V',
  'redis-cli': '--version -v',
  'redis-server': '--version -v',
  ffmpeg: '-version',
  ffprobe: '-version',
  convert: '-version',
  gpg: '--version',
  gawk: '--version -V',
  swift: '--version',
  ghc: '--version',
  R: '--version',
  julia: '--version -v',
  elixir: '--version',
  cabal: '--version',
  stack: '--version',
  poetry: '--version -V',
  pipx: '--version',
  virtualenv: '--version',
  conda: '--version -V',
  eslint: '--version -v',
  prettier: '--version -v',
  jest: '--version -v',
  vitest: '--version -v',
  ruff: '--version -V',
  mypy: '--version -V',
  black: '--version',
  gh: '--version',
  aws: '--version',
  'apt-get': '--version -v',
  brew: '--version -v',
  gdb: '--version -v',
  strace: '--version -V',
  valgrind: '--version',
  nginx: '-v -V',
  systemd: '--version',
  sudo: '--version -V',
  patch: '--version -v',
  parallel: '--version -V',
  nano: '--version -V',
  zip: '-v',
  perf: '--version',
};

function versionOnly(known: string): ProgramSpec {
  const allowed = new Set([...known.split(' '), '--help']);
  return {
    judge: (words): CommandJudgement => {
      const isVersion = words.length === 1 && allowed.has(words[0]?.literal ?? '-');
      return { reads: NO_PATHS, ...(!isVersion && { problem: 'it may run anything' }) };
    },
  };
}

/** Toolchain programs by name. */
export const TOOLCHAIN_PROGRAMS: Readonly<Record<string, ProgramSpec>> = {
  ...Object.fromEntries(Object.entries(VERSION_ARGUMENTS).map(([name, known]) => [name, versionOnly(known)])),
  go: {
    subcommands: { help: {}, version: { flags: '-m -v', mostOperands: 0 }, env: { flags: '-json', check: namesOnly } },
  },
  pip: {
    flags: '-V --version',
    subcommands: { show: { flags: '-f --files' }, freeze: { flags: '-l --local --user --all --exclude-editable' } },
  },
  pip3: {
    flags: '-V --version',
    subcommands: { show: { flags: '-f --files' }, freeze: { flags: '-l --local --user --all --exclude-editable' } },
  },
};

/** `go env -w` and `NAME=value` write. */
function namesOnly({ operands }: { readonly operands: readonly { readonly literal?: string }[] }): string | undefined {
  return operands.every(({ literal }) => literal !== undefined && /^[A-Z0-9_]+$/.test(literal))
    ? undefined
    : 'go env may write its settings';
}
