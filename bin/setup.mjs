/**
 * Makes a fresh clone ready: dependencies, build, and the programs that the tests need.
 *
 * Silent and fast if there is nothing to do; otherwise it reports on standard error. Plain JavaScript with Node's own
 * modules only, since it runs before anything is installed.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isBuildStale } from './build-stamp.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Far longer than an install and a build together; after this, the other setup counts as hung. */
const LOCK_WAIT_MS = 10 * 60_000;
const LOCK_POLL_MS = 200;

/**
 * Make the clone ready.
 *
 * @param {{ root?: string, forTests?: boolean, programs?: boolean, system?: Partial<System>, run?: (file: string, args: string[], options: object) => void, say?: (what: string) => void }} [options]
 *   `forTests`: development dependencies too. `programs`: the programs that the tests need too.
 *   `run` starts a program and throws if it fails; `say` reports to a person.
 * @returns {Promise<string[]>} Steps done, in order; empty if there was nothing to do.
 */
export async function setup({
  root = ROOT,
  forTests = false,
  programs = forTests,
  system = {},
  run = runLoudly,
  say = tell,
} = {}) {
  const needs = { forTests, programs, system: { ...thisSystem(), ...system } };
  const done = todo(root, needs).length === 0 ? [] : await doSteps(root, needs, run, say);
  if (programs) tellMissing(needs.system, say);
  return done;
}

/**
 * @typedef {object} System Properties of the system for setup.
 * @property {string} searchPath `PATH`, in which programs are searched.
 * @property {boolean} mayInstall True if packages may be installed: only as root, on Debian.
 * @property {boolean} isCi True in continuous integration, where no test is skipped.
 */

/** @returns {System} */
function thisSystem() {
  return {
    searchPath: process.env.PATH ?? '',
    mayInstall: process.getuid?.() === 0 && existsSync('/usr/bin/apt-get'),
    isCi: isCi(),
  };
}

/** True in continuous integration, where a test with a missing program fails. */
export function isCi() {
  return !['', 'false', '0'].includes(process.env.CI ?? '');
}

function doSteps(root, needs, run, say) {
  return withLock(join(root, '.setup.lock'), () => {
    const done = [];
    // Checked again under the lock: another setup may just have done it.
    for (let next = todo(root, needs)[0]; next && !done.includes(next); next = todo(root, needs)[0]) {
      STEPS[next](root, run, say, needs.system);
      done.push(next);
    }
    return done;
  });
}

/** List the steps to do, in order. */
function todo(root, { forTests, programs, system }) {
  const isBuilt = !isBuildStale(root);
  return [
    ...(isInstalled(root, forTests || !isBuilt) ? [] : ['install']),
    ...(isBuilt ? [] : ['build']),
    ...(programs && system.mayInstall && missingPrograms(system).length > 0 ? ['programs'] : []),
  ];
}

const STEPS = {
  install(root, run, say) {
    // npm empties the folder first, and would empty another clone's through a link.
    const folder = join(root, 'node_modules');
    if (lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink()) rmSync(folder);
    say('installing dependencies (npm ci)');
    const npm = process.env.npm_execpath;
    const [file, args] = npm ? [process.execPath, [npm]] : ['npm', []];
    run(file, [...args, 'ci', '--include=dev', '--ignore-scripts', '--loglevel=error'], { cwd: root });
  },
  build(root, run, say) {
    say('building dist/');
    run(process.execPath, [join(root, 'bin', 'build.mjs')], { cwd: root });
  },
  programs(root, run, say, system) {
    const packages = missingPrograms(system);
    say(`installing ${packages.join(', ')} on this system: apt-get ${[...APT_INSTALL, ...packages].join(' ')}`);
    try {
      run('apt-get', ['update', '-qq'], {});
      run('apt-get', ['-qq', ...APT_INSTALL, ...packages], {});
    } catch (error) {
      // For example without a network. Most tests do not need the programs.
      say(error.message);
    }
  },
};

/** True if `node_modules` matches the lock file, by npm's own record of what is installed. */
function isInstalled(root, needsDevelopment) {
  const record = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(record)) return false;
  const wanted = packagesIn(join(root, 'package-lock.json'));
  const present = packagesIn(record);
  return Object.entries(wanted).every(([path, { version, dev, optional, devOptional, peer }]) => {
    if (path === '' || optional || devOptional || peer || (dev && !needsDevelopment)) return true;
    return present[path]?.version === version;
  });
}

function packagesIn(path) {
  return JSON.parse(readFileSync(path, 'utf8')).packages;
}

/** Programs that the tests use, their Debian packages, and the consequence of their absence. */
const PROGRAMS = {
  chromium: { name: 'chromium', without: "the browser's tests are skipped" },
  bwrap: { name: 'bubblewrap', without: 'tests of the sandbox will fail' },
  python3: { name: 'python3', without: 'tests of the Python client will fail' },
};
const APT_INSTALL = ['install', '-y', '--no-install-recommends'];

/** List the packages of missing programs. */
function missingPrograms({ searchPath }) {
  const isMissing = ([program]) => findProgram(program, searchPath) === undefined;
  return Object.entries(PROGRAMS)
    .filter(isMissing)
    .map(([, { name }]) => name);
}

/**
 * Find a program that the tests use.
 *
 * @param {string} program
 * @returns {string | undefined} Absolute path.
 */
export function findProgram(program, searchPath = process.env.PATH ?? '') {
  const paths = searchPath.split(delimiter).map((folder) => join(folder, program));
  return paths.find((path) => existsSync(path));
}

/** Return the command that installs a package for the tests. @param {string} name */
export function installCommand(name) {
  return `sudo apt-get ${[...APT_INSTALL, name].join(' ')}`;
}

/** Report what the tests will miss, and the command that adds it. */
function tellMissing(system, say) {
  for (const { name, without } of Object.values(PROGRAMS)) {
    if (!missingPrograms(system).includes(name)) continue;
    const outcome = system.isCi ? 'tests that need it will fail' : without;
    say(`${name} is missing: ${outcome}. To add it: ${installCommand(name)}`);
  }
}

/** Run `act` while no other setup runs in the clone. */
async function withLock(path, act) {
  const deadline = Date.now() + LOCK_WAIT_MS;
  while (!tryLock(path)) {
    if (Date.now() > deadline) throw new Error(`Another setup holds "${path}"; remove it if none runs`);
    await wait(LOCK_POLL_MS);
  }
  try {
    return act();
  } finally {
    rmSync(path, { force: true });
  }
}

function tryLock(path) {
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    // A setup that was killed leaves its lock behind.
    if (!isAlive(readHolder(path))) rmSync(path, { force: true });
    return false;
  }
}

/** Read the process id in the lock. One that is still being written counts as ours, and so as alive. */
function readHolder(path) {
  try {
    return Number(readFileSync(path, 'utf8')) || process.pid;
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return process.pid;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Run a program with its output on standard error: standard output belongs to the server. */
function runLoudly(file, args, options) {
  const { status, error } = spawnSync(file, args, { ...options, stdio: ['ignore', 2, 2] });
  if (error) throw error;
  if (status !== 0) throw new Error(`"${file} ${args.join(' ')}" failed with exit code ${status}`);
}

function tell(what) {
  process.stderr.write(`setup: ${what}\n`);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await setup({ forTests: process.argv.includes('--for-tests') });
}
