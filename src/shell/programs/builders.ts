/** Build tools, task runners and test runners, whose commands are in files of the project. */
import type { ProgramRecord } from '../program-record.ts';

/** Databases and their clients. */
export const DATABASES: readonly ProgramRecord[] = [
  {
    names: 'sqlite3',
    reads: { alone: '--version -version' },
    language: 'program',
    writesOperands: 'all',
    readsOperands: 'all',
  },
  { names: 'psql', reads: { alone: '--version -V' }, language: 'program', inlineOptions: /^(?:-c|--command)/ },
  { names: 'mysql', reads: { alone: '--version -V' }, language: 'program', inlineOptions: /^(?:-\w*e|--execute)/ },
  { names: 'redis-cli', reads: { alone: '--version -v' }, suggests: 'nothing' },
  { names: 'redis-server', reads: { alone: '--version -v' } },
  { names: 'mongosh mongo', language: 'program', inlineOptions: /^--eval/ },
  { names: 'mariadb', language: 'program', inlineOptions: /^(?:-\w*e|--execute)/ },
  { names: 'duckdb', language: 'program' },
];

/** Builders and runners. */
export const BUILDERS: readonly ProgramRecord[] = [
  {
    names: 'shellcheck',
    reads: {
      flags:
        '-aCV -f= -s= -e= -i= -S= -o= -W= --format= --shell= --exclude= --include= --severity= --enable= --color? --norc --list-optional',
      operands: 'paths',
      // It prints sourced files, which `.shellcheckrc` allows anywhere.
      listFlags: ['-a'],
    },
  },
  {
    names: 'make',
    aliases: 'gmake',
    isGnu: true,
    reads: { alone: '--version -v' },
    valueOptions: '-C -f -I -o -W --directory --file --makefile',
    language: 'text',
    hiddenText: 'always',
    hasUnrelatedWriteOptions: true,
    suggests: 'subcommand',
    isTestOrBuild: true,
    skippedOperands: /^\w+=/,
  },
  { names: 'cmake', reads: { alone: '--version' }, runsBehind: /^-E$/, hiddenText: 'always', isTestOrBuild: true },
  { names: 'ninja', reads: { alone: '--version' }, hiddenText: 'always', isTestOrBuild: true },
  { names: 'eslint prettier', reads: { alone: '--version -v' } },
  {
    names: 'vitest',
    reads: { alone: '--version -v' },
    hiddenText: 'always',
    hasUnrelatedWriteOptions: true,
    isTestOrBuild: true,
  },
  { names: 'ruff mypy', reads: { alone: '--version -V' } },
  { names: 'black', reads: { alone: '--version' }, writesOperands: 'all' },
  { names: 'nodemon', isLauncher: true, hiddenText: 'always', restartable: /^/ },
  {
    names: 'lerna',
    isLauncher: true,
    hiddenText: [{ command: /^(?:run|run-many|exec|test|build|affected)$/ }],
    suggests: 'subcommand',
  },
  { names: 'watchexec', isLauncher: true, suggests: 'nothing' },
  {
    names:
      'bmake samu scons waf ctest cpack mvnw mvnd gradlew ant sbt lein bazel bazelisk buck buck2 pants tox ' +
      'nox py.test mocha ava tap tape karma cypress playwright gulp grunt phpunit pest rspec cucumber ' +
      'behave bats pre-commit husky lint-staged npm-run-all npm-run-all2 run-s run-p latexmk rpmbuild ' +
      'debuild dpkg-buildpackage makepkg rebar3 unittest nose2 doctest forever pm2',
    hiddenText: 'always',
  },
  { names: 'just task rake invoke', hiddenText: 'always', suggests: 'nothing' },
  { names: 'mvn gradle', hiddenText: 'always', suggests: 'subcommand', isTestOrBuild: true },
  { names: 'pytest jest', hiddenText: 'always', hasUnrelatedWriteOptions: true, isTestOrBuild: true },
  { names: 'meson', hiddenText: [{ command: /^(?:test|compile|install|dist|devenv|setup)$/ }] },
  { names: 'coverage', hiddenText: [{ command: /^run$/ }] },
  {
    names: 'turbo nx',
    hiddenText: [{ command: /^(?:run|run-many|exec|test|build|affected)$/ }],
    suggests: 'subcommand',
  },
  { names: 'moon wireit', hiddenText: [{ command: /^(?:run|run-many|exec|test|build|affected)$/ }] },
  { names: 'rails', hiddenText: [{ command: /^(?:runner|r|console|c|test)$/ }] },
  { names: 'isort', writesOperands: 'all' },
  { names: 'concurrently', suggests: 'nothing' },
  { names: 'serve http-server vite', restartable: /^/ },
  { names: 'next astro nuxt gatsby', restartable: /^(?:dev|start)\b/ },
];
