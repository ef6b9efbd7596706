/** Compilers, interpreters and package managers: what they tell of themselves, and little else. */
import { type CommandJudgement, NO_PATHS, type ProgramSpec } from '../program-spec.ts';

/**
 * Each with the arguments that make it tell its version and end, as `--help` does; some read code on others.
 *
 * Not here: terraform asks the network, ansible makes folders, and many obey what lies in the current folder before
 * they answer. pytest runs `conftest.py`, jest and npx what is in `node_modules`, rustc, cargo and rustup the tools that
 * `rust-toolchain.toml` names, go, swift and dotnet those of `go.mod`, `.swift-version` and `global.json`, ruby those of
 * `.ruby-version`; mvn takes options from `.mvn`, valgrind from `.valgrindrc`, npm from `.npmrc`, bundle from `.bundle`,
 * bun from `bunfig.toml`, some builds of php from `php.ini`; poetry loads plugins, elixir `.erlang`, R `.Rprofile`, convert its settings.
 */
const VERSION_ARGUMENTS: Readonly<Record<string, string>> = {
  node: '--version -v',
  nodejs: '--version -v',
  deno: '--version -V',
  tsc: '--version -v',
  python: '--version -V -VV',
  python2: '--version -V',
  python3: '--version -V -VV',
  pip: '--version -V',
  pip3: '--version -V',
  uv: '--version -V',
  gem: '--version -v',
  perl: '--version -v',
  lua: '-v',
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
  gpg: '--version',
  gawk: '--version -V',
  ghc: '--version',
  cabal: '--version',
  stack: '--version',
  pipx: '--version',
  virtualenv: '--version',
  conda: '--version -V',
  eslint: '--version -v',
  prettier: '--version -v',
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
  pip: {
    flags: '-V --version',
    subcommands: { show: { flags: '-f --files' }, freeze: { flags: '-l --local --user --all --exclude-editable' } },
  },
  pip3: {
    flags: '-V --version',
    subcommands: { show: { flags: '-f --files' }, freeze: { flags: '-l --local --user --all --exclude-editable' } },
  },
};
