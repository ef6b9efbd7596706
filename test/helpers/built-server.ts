/** The built server as a process of its own: started on a free port, ended by its id. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync, openSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { TestRunner, afterAll, onTestFinished } from 'vitest';
import { setup } from '../../bin/setup.mjs';
import { assertEndsHealthy, healthAtStart } from './health.ts';
import { olderKernelLauncher } from './older-kernel.ts';

const ROOT = new URL('../..', import.meta.url).pathname;
/** `nobody` and `nogroup`. */
const NOBODY = 65_534;
const running = new Set<ChildProcess>();
const looksAtEnd = new Set<() => Promise<void>>();
const folders = new Set<string>();

afterAll(async () => {
  try {
    for (const look of looksAtEnd) await look();
  } finally {
    for (const child of running) child.kill('SIGTERM');
    await Promise.all([...running].map(exitOf));
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }
});

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** What a test says of the server it wants. */
export interface ServerOptions {
  /** Written to `gauntlet.config.json` of the data directory. */
  readonly settings?: object;
  readonly environment?: Readonly<Record<string, string>>;
  /** Given: the data directory and the workspace of an earlier server. */
  readonly home?: string;
  /** Where the tests run as root, the server does not: its home becomes nobody's. */
  readonly isUnprivileged?: boolean;
  /** `ulimit -n` of the server. */
  readonly descriptors?: number;
  /** The kernel seems to have no Landlock. */
  readonly isOlderKernel?: boolean;
  /** Opened for its standard error; `logged()` stays empty then. */
  readonly errorFile?: string;
  /** Words in the command lines of processes that live as long as the server. */
  readonly mayKeep?: readonly string[];
}

/** A server that listens. */
export interface BuiltServer {
  readonly url: string;
  readonly token: string;
  /** Holds `data/` and `workspace/`. */
  readonly home: string;
  readonly workspace: string;
  readonly dataFolder: string;
  readonly pid: number;
  /** Standard output up to now. */
  printed(): string;
  /** Standard error up to now. */
  logged(): string;
  /** Resolves when it has ended. */
  readonly exited: Promise<Exit>;
  /** Send a signal, and wait for the end. */
  end(signal?: NodeJS.Signals): Promise<Exit>;
}

/**
 * Start it and wait until it listens; it ends with the test file at the latest. If it still runs when its test, or
 * the file that shares it, is through, it must be healthy.
 */
export async function startServer(options: ServerOptions = {}): Promise<BuiltServer> {
  const { child, environment, home } = await spawnServer(options);
  const exited = exitOf(child);
  let printed = '';
  let logged = '';
  child.stderr?.on('data', (chunk: Buffer) => (logged += String(chunk)));
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      printed += String(chunk);
      const match = /^Listening on (\S+)\n/m.exec(printed);
      if (match?.[1] !== undefined) resolve(match[1]);
    });
    void exited.then(({ code }) => reject(new Error(`The server ended with ${code} before it listened: ${logged}`)));
  });
  const dataFolder = environment['GAUNTLET_DATA_DIR'] ?? '';
  const server: BuiltServer = {
    url,
    token: tokenOf(environment, dataFolder),
    home,
    workspace: join(home, 'workspace'),
    dataFolder,
    pid: child.pid ?? 0,
    printed: () => printed,
    logged: () => logged,
    exited,
    end: (signal = 'SIGTERM') => {
      child.kill(signal);
      return exited;
    },
  };
  const start = healthAtStart(server, options.mayKeep);
  const lookAtEnd = async () => {
    if (running.has(child)) await assertEndsHealthy(server, start);
  };
  // One that a whole file shares is looked at once.
  if (TestRunner.getCurrentTest() === undefined) looksAtEnd.add(lookAtEnd);
  else onTestFinished(lookAtEnd);
  return server;
}

/** Run a server that is expected to end by itself. */
export async function runServer(options: ServerOptions = {}, words?: readonly string[]) {
  const { child } = await spawnServer(options, words);
  if (child.stdout === null || child.stderr === null) throw new TypeError('The server has no pipes');
  const [stdout, stderr, { code }] = await Promise.all([text(child.stdout), text(child.stderr), exitOf(child)]);
  return { code, stdout, stderr };
}

/** Remove a folder after the tests of this file and after its servers. */
export function removeAfterTests(folder: string): void {
  folders.add(folder);
}

/** A folder with `data/` and `workspace/` in it, removed after the tests of this file and after its servers. */
export function serverHome(): string {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'gauntlet-server-')));
  folders.add(home);
  for (const name of ['data', 'workspace']) mkdirSync(join(home, name), { mode: 0o700 });
  return home;
}

async function spawnServer(options: ServerOptions, words: readonly string[] = ['serve']) {
  await setup({ forTests: true, programs: false });
  const { home = serverHome(), settings } = options;
  if (settings) writeFileSync(join(home, 'data', 'gauntlet.config.json'), JSON.stringify(settings));
  const environment: Record<string, string> = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    GAUNTLET_PORT: '0',
    GAUNTLET_DATA_DIR: join(home, 'data'),
    GAUNTLET_WORKSPACE: join(home, 'workspace'),
    GAUNTLET_TOKEN: 'canary-token-0123456789abcdef',
    ...options.environment,
  };
  const isNobody = options.isUnprivileged === true && process.getuid?.() === 0;
  if (isNobody) execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, home]);
  const program = [process.execPath, join(ROOT, 'dist/gauntlet.js'), ...words];
  const [file = '', ...args] = options.descriptors
    ? ['prlimit', `--nofile=${options.descriptors}`, ...program]
    : options.isOlderKernel
      ? [olderKernelLauncher(home), process.execPath, ...program]
      : program;
  // The launcher's first word is the path of what follows.
  const first = options.isOlderKernel ? { argv0: process.execPath } : {};
  const child = spawn(file, options.isOlderKernel ? args.slice(1) : args, {
    ...first,
    cwd: join(home, 'workspace'),
    env: environment,
    stdio: ['ignore', 'pipe', options.errorFile === undefined ? 'pipe' : openSync(options.errorFile, 'a')],
    ...(isNobody && { uid: NOBODY, gid: NOBODY }),
  });
  running.add(child);
  void exitOf(child).then(() => running.delete(child));
  return { child, environment, home };
}

/** The one it was given, else the one it made. */
function tokenOf({ GAUNTLET_TOKEN: token, GAUNTLET_TOKEN_FILE: file }: Record<string, string>, data: string): string {
  return token || readFileSync(file ?? join(data, 'token'), 'utf8').trim();
}

function exitOf(child: ChildProcess): Promise<Exit> {
  const { exitCode, signalCode } = child;
  if (exitCode !== null || signalCode !== null) return Promise.resolve({ code: exitCode, signal: signalCode });
  return new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
}
