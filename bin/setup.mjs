/**
 * Makes a fresh clone ready: dependencies, build, and what the tests need of the system.
 *
 * Silent and as good as free when nothing is to do; otherwise it tells on standard error. Plain JavaScript
 * on Node's own modules, since it runs before anything is installed.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isBuildStale } from './build-stamp.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** An install and a build together stay far below; past it the other setup is taken for hung. */
const LOCK_WAIT_MS = 10 * 60_000;
const LOCK_POLL_MS = 200;

/**
 * Make the clone ready.
 *
 * @param {{ root?: string, forTests?: boolean, programs?: boolean, run?: (file: string, args: string[], options: object) => void, say?: (what: string) => void }} [options]
 *   `forTests`: development dependencies too. `programs`: what the tests need of the system too.
 *   `run` starts a program and throws if it fails; `say` tells a person.
 * @returns {Promise<string[]>} What was done, in order; empty when nothing was to do.
 */
export async function setup({ root = ROOT, forTests = false, programs = forTests, run = runLoudly, say = tell } = {}) {
  const needs = { forTests, programs };
  if (todo(root, needs).length === 0) return [];
  return withLock(join(root, '.setup.lock'), () => {
    const done = [];
    // Looked at again under the lock: another setup may just have done it.
    for (let next = todo(root, needs)[0]; next && !done.includes(next); next = todo(root, needs)[0]) {
      STEPS[next](root, run, say);
      done.push(next);
    }
    return done;
  });
}

/** What is to do, in order. */
function todo(root, { forTests, programs }) {
  const isBuilt = !isBuildStale(root);
  return [
    ...(isInstalled(root, forTests || !isBuilt) ? [] : ['install']),
    ...(isBuilt ? [] : ['build']),
    ...(programs && missingPrograms().length > 0 && mayInstallPrograms() ? ['programs'] : []),
  ];
}

const STEPS = {
  install(root, run, say) {
    say('installing dependencies (npm ci)');
    const npm = process.env.npm_execpath;
    const [file, args] = npm ? [process.execPath, [npm]] : ['npm', []];
    run(file, [...args, 'ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: root });
  },
  build(root, run, say) {
    say('building dist/');
    run(process.execPath, [join(root, 'bin', 'build.mjs')], { cwd: root });
  },
  programs(root, run, say) {
    const packages = missingPrograms();
    say(`installing ${packages.join(', ')} (apt-get)`);
    try {
      run('apt-get', ['update', '-qq'], {});
      run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], {});
    } catch (error) {
      // Most tests need none of them; those that do fail by name.
      say(`${error.message}: tests that drive these programs will fail`);
    }
  },
};

/** Whether `node_modules` holds what the lock file asks for, by the record npm keeps of what stands there. */
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

/** Programs the tests drive, and the Debian packages that bring them. */
const PROGRAMS = { chromium: 'chromium', bwrap: 'bubblewrap' };

/** Packages of those that are not there. */
function missingPrograms() {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const isMissing = ([program]) => !folders.some((folder) => existsSync(join(folder, program)));
  return Object.entries(PROGRAMS)
    .filter(isMissing)
    .map(([, name]) => name);
}

/** Only root of a Debian system; elsewhere the tests say what they miss. */
function mayInstallPrograms() {
  return process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');
}

/** One setup at a time in one clone. */
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

/** The process id in the lock; one that is just being written counts as ours, so as alive. */
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

/** What the program prints goes to standard error: standard output belongs to the server. */
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
