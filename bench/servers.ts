/**
 * Starts what is measured: our built server and the floor, each as a process of its own on loopback.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A server that listens. */
export interface RunningServer {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  readonly pid: number;
  /** Sent with every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Folder its calls work in. */
  readonly workspace: string;
  /** Milliseconds from spawn to the line that says it listens. */
  readonly startMs: number;
  /** Resident memory, MiB. */
  residentMiB(): number;
  stop(): Promise<void>;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const TOKEN = 'bench-token-bench-token';

/** Where a server of ours keeps its data, and where its calls work. */
export interface ServerHome {
  readonly folder: string;
  readonly workspace: string;
}

/** Make both folders. */
export function newHome(): ServerHome {
  return {
    folder: mkdtempSync(join(tmpdir(), 'gauntlet-bench-')),
    workspace: mkdtempSync(join(tmpdir(), 'gauntlet-bench-work-')),
  };
}

/** A plugin with what the measurements need beside the built-in tools. */
const BENCH_TOOLS = join(root, 'bench/fixtures/bench-tools.mjs');

/**
 * Start our server from `dist/`, with everything its measurements call allowed.
 *
 * @param settings More keys of its settings file.
 * @param home Folders for its data and its work; removed when it stops.
 * @param variables More of its environment.
 */
export function startOurs(
  plugins: readonly string[] = [BENCH_TOOLS],
  settings: object = {},
  home: ServerHome = newHome(),
  variables: Readonly<Record<string, string>> = {},
): Promise<RunningServer> {
  const { folder, workspace } = home;
  const config = join(folder, 'gauntlet.config.json');
  writeFileSync(config, JSON.stringify({ plugins, permissions: { allow: ['Bash'] }, ...settings }));
  const environment = {
    GAUNTLET_PORT: '0',
    GAUNTLET_TOKEN: TOKEN,
    GAUNTLET_DATA_DIR: folder,
    GAUNTLET_WORKSPACE: workspace,
    GAUNTLET_LOG_LEVEL: 'error',
    ...variables,
  };
  const headers = { authorization: `Bearer ${TOKEN}` };
  return start([join(root, 'dist/gauntlet.js'), 'serve'], {
    environment,
    headers,
    workspace,
    folders: [folder, workspace],
  });
}

/** Start the floor. @param log `kept`: it writes frames to SQLite before it sends them. */
export function startFloor(log: 'none' | 'kept' = 'none'): Promise<RunningServer> {
  const workspace = mkdtempSync(join(tmpdir(), 'gauntlet-bench-work-'));
  const program = join(root, 'bench/fixtures/floor-server.mjs');
  const words = log === 'kept' ? [program, join(workspace, 'frames.db')] : [program];
  return start(words, { environment: {}, headers: {}, workspace, folders: [workspace] });
}

/** Start an MCP server over HTTP. */
export function startMcpUpstream(): Promise<RunningServer> {
  const program = join(root, 'bench/fixtures/mcp-upstream.mjs');
  return start([program], { environment: {}, headers: {}, workspace: root, folders: [] });
}

/** Start the least that can pass an MCP server on. @param url Of the upstream. */
export function startMcpProxy(url: string): Promise<RunningServer> {
  const program = join(root, 'bench/fixtures/mcp-proxy.mjs');
  return start([program, url], { environment: {}, headers: {}, workspace: root, folders: [] });
}

interface StartOptions {
  readonly environment: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly workspace: string;
  /** Removed when the server has stopped. */
  readonly folders: readonly string[];
}

async function start(words: readonly string[], options: StartOptions): Promise<RunningServer> {
  const begunMs = performance.now();
  const child = spawn(process.execPath, [...words], {
    env: { ...process.env, ...options.environment },
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await listeningUrl(child);
  const { pid = 0 } = child;
  return {
    url,
    pid,
    headers: options.headers,
    workspace: options.workspace,
    startMs: performance.now() - begunMs,
    residentMiB: () => residentMiB(pid),
    stop: () => stop(child, options.folders),
  };
}

function listeningUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const url = /Listening on (http:\/\/\S+)/.exec(text)?.[1];
      if (url !== undefined) resolve(url);
    });
    child.once('exit', (code) => reject(new Error(`The server ended with ${code} before it listened`)));
  });
}

async function stop(child: ChildProcess, folders: readonly string[]): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await ended;
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}

function residentMiB(pid: number): number {
  const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
  return (pages * 4096) / 1024 / 1024;
}
