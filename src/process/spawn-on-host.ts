/**
 * One spawn: the frames that start a child, feed it and end it.
 */
import type { Socket } from 'node:net';
import { GauntletError } from '../base/errors.ts';
import type { KillTreeMessage, SpawnMessage } from './host/messages.ts';
import { ToHost, writeFrame, writeJsonFrame } from './host/protocol.ts';
import { createHostedChild, type HostedChild } from './hosted-child.ts';
import type { HostedProcess, SpawnRequest } from './process-host.ts';
import { spawnError } from './spawn-error.ts';

/** A child the host has been asked for and has not told the end of. */
export interface LinkedChild extends HostedChild {
  /** The program, as the caller knows it. */
  readonly what: string;
  /** Resolvers of writes the pipe has not taken yet, the oldest first. */
  readonly writes: (() => void)[];
}

/** What a spawn needs of its link to the host. */
export interface HostWire {
  readonly socket: Socket;
  /** Bytes of output the host sends before it waits. */
  readonly windowBytes: number;
  /** Why the host is gone; undefined while it is there. */
  loss(): NodeJS.ErrnoException | undefined;
  /** From now on the child is told what the host says of it. */
  add(id: number, child: LinkedChild): void;
  /** Whether the child's end is still to come. */
  has(id: number): boolean;
  /** Send a request and wait for its answer; resolves too when the host is lost. */
  ask(kind: number, value: unknown): Promise<Buffer>;
}

/** Bytes of one stdin frame: what the host holds of a write that its child does not read. */
const STDIN_BYTES = 64 * 1_024;
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Ask the host for a child. What cannot be started is told through its promises. */
export function spawnOn(wire: HostWire, id: number, request: SpawnRequest): HostedProcess {
  const { socket } = wire;
  const startedMs = performance.now();
  const acknowledged = Buffer.alloc(4);
  const hosted = createHostedChild(request.onOutput, wire.windowBytes, {
    acknowledge(bytes) {
      acknowledged.writeUInt32BE(bytes);
      writeFrame(socket, ToHost.acknowledge, id, acknowledged);
    },
    endTree: () => void killTree(),
  });
  const child: LinkedChild = { ...hosted, what: request.shellScript === undefined ? request.file : 'bash', writes: [] };
  begin(wire, id, child, request);

  async function endTree(): Promise<void> {
    const started = await child.started;
    const message: KillTreeMessage = { ...started, hasGroup: child.hasGroup(), ageMs: performance.now() - startedMs };
    await wire.ask(ToHost.killTree, message);
  }
  let ending: Promise<void> | undefined;
  function killTree(): Promise<void> {
    // What never started left nothing to end.
    return (ending ??= endTree().catch(() => undefined));
  }

  return {
    started: child.started,
    exited: child.exited,
    killTree,
    async write(data) {
      const bytes = typeof data === 'string' ? Buffer.from(data) : data;
      for (let at = 0; at < bytes.length && wire.has(id); at += STDIN_BYTES) {
        await new Promise<void>((taken) => {
          child.writes.push(taken);
          writeFrame(socket, ToHost.stdin, id, bytes.subarray(at, at + STDIN_BYTES));
        });
      }
    },
    end: () => writeFrame(socket, ToHost.stdinEnd, id),
    signal: (signal) => writeFrame(socket, ToHost.signal, id, Buffer.from(signal)),
  };
}

function begin(wire: HostWire, id: number, child: LinkedChild, request: SpawnRequest): void {
  const loss = wire.loss();
  const refusal = loss === undefined ? whyUnfit(request) : spawnError(child.what, loss);
  if (refusal !== undefined) return child.onFailed(refusal);
  wire.add(id, child);
  writeJsonFrame(wire.socket, ToHost.spawn, id, spawnMessage(request));
}

function spawnMessage({
  file,
  args,
  cwd,
  env = {},
  stdin,
  files,
  shellScript,
  launcher,
  jail,
  cwdFile,
}: SpawnRequest): SpawnMessage {
  return { file, args, cwd, env, hasStdin: stdin === 'pipe', files, shellScript, launcher, jail, cwdFile };
}

/** Why no program can be given this; undefined when it can. */
function whyUnfit({
  file,
  args,
  cwd,
  env = {},
  shellScript = '',
  launcher,
  cwdFile = '',
}: SpawnRequest): GauntletError | undefined {
  // A NUL ends a string for the kernel: what would run is not what was judged.
  const texts = [file, cwd, shellScript, cwdFile, ...args, ...(launcher?.command ?? []), ...Object.values(env)];
  const isCutShort = texts.some((text) => text.includes('\0'));
  if (isCutShort)
    return new GauntletError('tool_failed', `Cannot start "${file}": a NUL character in what it is given. Remove it`);
  const badName = Object.keys(env).find((name) => !VARIABLE_NAME.test(name));
  if (badName === undefined) return undefined;
  return new GauntletError('tool_failed', `Cannot start "${file}": "${badName}" cannot name a variable. Rename it`);
}
