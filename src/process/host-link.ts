/**
 * One life of a process host: the children it runs for us and the answers it owes us.
 */
import { GauntletError } from '../contract/errors.ts';
import type { ExitedMessage, FailedMessage, KillTreeMessage, SpawnMessage, StartedMessage } from './host/messages.ts';
import type { HostSettings } from './host/settings.ts';
import { FromHost, ToHost, writeFrame, writeJsonFrame } from './host/protocol.ts';
import type { HostFrame } from './host/protocol.ts';
import { connectHost } from './host-connection.ts';
import { createHostedChild } from './hosted-child.ts';
import type { HostedChild } from './hosted-child.ts';
import type { HostedProcess, SpawnRequest } from './process-host.ts';
import { spawnError } from './spawn-error.ts';

/** A host that runs, until it is lost. */
export interface HostLink {
  spawn(request: SpawnRequest): HostedProcess;
  /** Resolves when the host is up. */
  ping(): Promise<void>;
  /** End what carries the owner's marker and was not started by this host. @returns How many were found. */
  sweep(): Promise<number>;
  /** End every child and the host. */
  close(): Promise<void>;
}

interface LinkedChild extends HostedChild {
  readonly what: string;
  /** Resolvers of writes the pipe has not taken yet, the oldest first. */
  readonly writes: (() => void)[];
}

/** Bytes of one stdin frame: what the host holds of a write that its child does not read. */
const STDIN_BYTES = 64 * 1_024;
/** Frames that answer a request of ours and not a child's news. */
const ANSWERS: ReadonlySet<number> = new Set([FromHost.treeKilled, FromHost.swept, FromHost.pong]);

/** Start a host. @param onLost Once, when it has gone although nobody closed it. */
export function openHostLink(entry: string | URL, settings: HostSettings, onLost: () => void): HostLink {
  const children = new Map<number, LinkedChild>();
  const replies = new Map<number, (payload: Buffer) => void>();
  let lastNumber = 0;
  let isClosing = false;
  let loss: NodeJS.ErrnoException | undefined;
  const connection = connectHost(entry, settings, receive, lose);
  holdWhileBusy();

  function receive({ kind, child: id, payload }: HostFrame): void {
    const child = children.get(id);
    if (ANSWERS.has(kind)) {
      replies.get(id)?.(payload);
      replies.delete(id);
      holdWhileBusy();
    }
    if (child === undefined) return;
    if (kind === FromHost.stdout) child.onOutput('stdout', payload);
    else if (kind === FromHost.stderr) child.onOutput('stderr', payload);
    else if (kind === FromHost.started) child.onStarted(parse<StartedMessage>(payload));
    else if (kind === FromHost.stdinTaken) child.writes.shift()?.();
    else if (kind === FromHost.failed) forget(id, () => child.onFailed(spawnError(child.what, parse<FailedMessage>(payload))));
    else if (kind === FromHost.exited) forget(id, () => child.onExited(parse<ExitedMessage>(payload)));
  }

  function forget(id: number, tell: () => void): void {
    for (const written of children.get(id)?.writes ?? []) written();
    children.delete(id);
    holdWhileBusy();
    tell();
  }

  function lose(cause: NodeJS.ErrnoException): void {
    loss = cause;
    for (const [id, child] of children) {
      forget(id, () => {
        // Whoever had started is ended by us, since the host no longer can; whoever had not never will.
        void child.started.then(({ pid }) => endOrphan(pid)).catch(() => undefined);
        child.onLost(spawnError(child.what, cause));
      });
    }
    for (const reply of replies.values()) reply(Buffer.from('0'));
    replies.clear();
    if (!isClosing) onLost();
  }

  function holdWhileBusy(): void {
    connection.hold(children.size + replies.size > 0);
  }

  function ask(kind: number, value: unknown): Promise<Buffer> {
    if (loss !== undefined) return Promise.resolve(Buffer.from('0'));
    const id = (lastNumber += 1);
    return new Promise((resolve) => {
      replies.set(id, resolve);
      holdWhileBusy();
      writeJsonFrame(connection.socket, kind, id, value);
    });
  }

  function spawn(request: SpawnRequest): HostedProcess {
    const id = (lastNumber += 1);
    const startedMs = performance.now();
    const acknowledged = Buffer.alloc(4);
    const hosted = createHostedChild(request.onOutput, settings.windowBytes, {
      acknowledge(bytes) {
        acknowledged.writeUInt32BE(bytes);
        writeFrame(connection.socket, ToHost.acknowledge, id, acknowledged);
      },
      endTree: () => void killTree(),
    });
    const what = request.shellScript === undefined ? request.file : 'bash';
    const child: LinkedChild = { ...hosted, what, writes: [] };
    const refusal = loss === undefined ? whyUnfit(request) : spawnError(what, loss);
    if (refusal !== undefined) child.onFailed(refusal);
    else {
      children.set(id, child);
      holdWhileBusy();
      writeJsonFrame(connection.socket, ToHost.spawn, id, spawnMessage(request));
    }

    let killing: Promise<void> | undefined;
    async function endTree(): Promise<void> {
      const started = await child.started;
      const message: KillTreeMessage = { ...started, hasGroup: child.hasGroup(), ageMs: performance.now() - startedMs };
      await ask(ToHost.killTree, message);
    }
    function killTree(): Promise<void> {
      // What never started left nothing to end.
      return (killing ??= endTree().catch(() => undefined));
    }

    async function write(data: string | Uint8Array): Promise<void> {
      const bytes = typeof data === 'string' ? Buffer.from(data) : data;
      for (let at = 0; at < bytes.length && children.has(id); at += STDIN_BYTES) {
        await new Promise<void>((taken) => {
          child.writes.push(taken);
          writeFrame(connection.socket, ToHost.stdin, id, bytes.subarray(at, at + STDIN_BYTES));
        });
      }
    }

    return {
      started: child.started,
      exited: child.exited,
      write,
      end: () => writeFrame(connection.socket, ToHost.stdinEnd, id),
      killTree,
      signal: (signal) => writeFrame(connection.socket, ToHost.signal, id, Buffer.from(signal)),
    };
  }

  return {
    spawn,
    async ping() {
      await ask(ToHost.ping, null);
    },
    async sweep() {
      return Number((await ask(ToHost.sweep, null)).toString());
    },
    close() {
      isClosing = true;
      return connection.end();
    },
  };
}

function spawnMessage({ file, args, cwd, env = {}, stdin, shellScript, cwdFile }: SpawnRequest): SpawnMessage {
  return { file, args, cwd, env, hasStdin: stdin === 'pipe', shellScript, cwdFile };
}

/** Why no program can be given this; undefined when it can. */
function whyUnfit({ file, args, cwd, env = {}, shellScript = '', cwdFile = '' }: SpawnRequest): GauntletError | undefined {
  // A NUL ends a string for the kernel: what would run is not what was judged.
  const isCutShort = [file, cwd, shellScript, cwdFile, ...args, ...Object.values(env)].some((text) => text.includes('\0'));
  if (isCutShort) return new GauntletError('tool_failed', `Cannot start "${file}": a NUL character in what it is given. Remove it`);
  const badName = Object.keys(env).find((name) => !VARIABLE_NAME.test(name));
  if (badName === undefined) return undefined;
  return new GauntletError('tool_failed', `Cannot start "${file}": "${badName}" cannot name a variable. Rename it`);
}

const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

function endOrphan(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group is gone already.
  }
}

function parse<Message>(payload: Buffer): Message {
  return JSON.parse(payload.toString()) as Message;
}
