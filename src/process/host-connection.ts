/**
 * Connection to one process host: a detached process and a socket that carries frames.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { HostSettings } from './host/settings.ts';
import { frameDecoder, type HostFrame, ToHost, writeJsonFrame } from './host/protocol.ts';

/** A host process that waits for its settings. */
export interface StartedHost {
  readonly process: ChildProcess;
  /** Resolves with the cause when it is gone, for whatever reason. */
  readonly lost: Promise<NodeJS.ErrnoException>;
}

/** A started host. Frames may be written at once; it reads them when it is up. */
export interface HostConnection {
  readonly socket: Socket;
  /** Set whether the host keeps the server's event loop alive. */
  hold(isHeld: boolean): void;
  /** End the connection, upon which the host ends all it started. Resolves when it is gone. */
  end(): Promise<void>;
}

/** Environment variables that children inherit. */
const ALLOWED_VARIABLES = ['PATH', 'HOME', 'LANG', 'TERM', 'TMPDIR'] as const;
/** Characters kept of a failing host's standard error, for the server's log. */
const MAX_STDERR_CHARS = 2_000;
/** The heap must stay small, because a fork copies the page tables of the host. */
const SMALL_HEAP = ['--max-old-space-size=64', '--max-semi-space-size=1'];

/**
 * Start a host, which ends with this process.
 *
 * @param entry Path or `file:` URL of its program; a `.ts` file runs through tsx if Node cannot run it.
 * @param onFrame Called with each frame it sends. @param onLost Called once when it is gone, for whatever reason.
 */
export function startHost(entry: string | URL = defaultEntry()): StartedHost {
  const path = String(entry).startsWith('file:') ? fileURLToPath(entry) : String(entry);
  const host = spawn(process.execPath, [...SMALL_HEAP, ...loader(path), path], {
    env: allowedEnvironment(process.env),
    cwd: '/',
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    // In its own session it does not receive signals to the server's group, so that it can clean up after the server.
    detached: true,
  });
  const started = { process: host, lost: lossOf(host) };
  hold(started, false);
  return started;
}

/**
 * Tell a host its settings, and exchange frames with it from then on.
 *
 * @param onFrame Called for each frame it sends. @param onLost Called once, when it is gone, for whatever reason.
 */
export function connectHost(
  started: StartedHost,
  settings: HostSettings,
  onFrame: (frame: HostFrame) => void,
  onLost: (cause: NodeJS.ErrnoException) => void,
): HostConnection {
  const { process: host } = started;
  // Without descriptors (EMFILE) Node gives up before there are any pipes, whatever its types say; `error` follows.
  const pipes = host.stdio as ChildProcess['stdio'] | undefined;
  const socket = (pipes?.[3] as Socket | undefined) ?? new Socket().destroy();
  const lost = started.lost.then(onLost);
  // What breaks the socket ends the host, and its end is what is told.
  socket.on('data', frameDecoder(onFrame)).on('error', () => socket.destroy());
  writeJsonFrame(socket, ToHost.configure, 0, settings);

  return {
    socket,
    hold: (isHeld) => hold(started, isHeld),
    async end() {
      this.hold(true);
      socket.end();
      await lost;
      socket.destroy();
    },
  };
}

function hold({ process: host }: StartedHost, isHeld: boolean): void {
  const method = isHeld ? 'ref' : 'unref';
  host[method]();
  for (const pipe of (host.stdio as ChildProcess['stdio'] | undefined) ?? []) (pipe as Socket | null)?.[method]();
}

function lossOf(host: ChildProcess): Promise<NodeJS.ErrnoException> {
  let stderrTail = '';
  host.stderr?.on('data', (chunk: Buffer) => (stderrTail = (stderrTail + chunk.toString()).slice(-MAX_STDERR_CHARS)));
  return Promise.race([
    once(host, 'exit').then(
      ([code, signal]) => new Error(`the process host ended (${String(signal ?? code)})`, { cause: stderrTail }),
    ),
    new Promise<Error>((resolve) => host.once('error', resolve)),
  ]);
}

function defaultEntry(): URL {
  const isSource = import.meta.url.endsWith('.ts');
  return new URL(isSource ? './host/main.ts' : './process-host.js', import.meta.url);
}

function allowedEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    ALLOWED_VARIABLES.map((name) => [name, environment[name]]).filter(([, value]) => value !== undefined),
  );
}

function loader(path: string): string[] {
  const isSource = path.endsWith('.ts') && !('typescript' in process.features && Boolean(process.features.typescript));
  // Resolved here, because the host's working directory is not the server's.
  return isSource ? ['--import', import.meta.resolve('tsx')] : [];
}
