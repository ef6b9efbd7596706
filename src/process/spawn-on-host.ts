/**
 * One spawn: the frames that start a child, write to it and end it.
 */
import type { Socket } from 'node:net';
import { GauntletError } from '../base/errors.ts';
import type { KillTreeMessage, SpawnMessage } from './host/messages.ts';
import { ToHost, writeFrame, writeJsonFrame } from './host/protocol.ts';
import { createHostedChild, type HostedChild } from './hosted-child.ts';
import type { HostedProcess, SpawnRequest } from './process-host.ts';
import { spawnError } from './spawn-error.ts';

/** A child that was requested from the host and has not ended. */
export interface LinkedChild extends HostedChild {
  /** The program, as the caller knows it. */
  readonly what: string;
  /** Resolvers of writes that the pipe has not accepted yet, oldest first. */
  readonly writes: (() => void)[];
}

/** Operations of the host link that a spawn uses. */
export interface HostWire {
  readonly socket: Socket;
  /** Reason why the host was lost; undefined while it runs. */
  loss(): NodeJS.ErrnoException | undefined;
  /** Register a child for the host's events. */
  add(id: number, child: LinkedChild): void;
  /** True if the child has not ended. */
  has(id: number): boolean;
  /** Send a request and wait for the reply; also resolves when the host is lost. */
  request(kind: number, value: unknown): Promise<Buffer>;
}

/** Size of one stdin frame, which bounds what the host buffers for a child that does not read. */
const STDIN_BYTES = 64 * 1_024;
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Request a child from the host. Failures are reported through its promises. */
export function spawnOn(wire: HostWire, id: number, request: SpawnRequest): HostedProcess {
  const { socket } = wire;
  const startedMs = performance.now();
  const acknowledged = Buffer.alloc(4);
  const hosted = createHostedChild(request.onOutput, {
    acknowledge(bytes) {
      acknowledged.writeUInt32BE(bytes);
      writeFrame(socket, ToHost.acknowledge, id, acknowledged);
    },
    endTree: () => void killTree(),
  });
  const child: LinkedChild = { ...hosted, what: request.shellScript === undefined ? request.file : 'bash', writes: [] };
  sendSpawn(wire, id, child, request);

  async function endTree(): Promise<void> {
    const started = await child.started;
    const message: KillTreeMessage = { ...started, hasGroup: child.hasGroup(), ageMs: performance.now() - startedMs };
    await wire.request(ToHost.killTree, message);
  }
  let ending: Promise<void> | undefined;
  function killTree(): Promise<void> {
    // A child that never started left nothing to end.
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

function sendSpawn(wire: HostWire, id: number, child: LinkedChild, request: SpawnRequest): void {
  const loss = wire.loss();
  const refusal = loss === undefined ? validateRequest(request) : spawnError(child.what, loss);
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

/** Return the error for a request that the kernel cannot represent; `undefined` if it is valid. */
function validateRequest({
  file,
  args,
  cwd,
  env = {},
  shellScript = '',
  launcher,
  cwdFile = '',
}: SpawnRequest): GauntletError | undefined {
  // The kernel ends a string at NUL, so another command would run than the one that was judged.
  const texts = [file, cwd, shellScript, cwdFile, ...args, ...(launcher?.command ?? []), ...Object.values(env)];
  const hasNul = texts.some((text) => text.includes('\0'));
  if (hasNul)
    return new GauntletError(
      'tool_failed',
      `Cannot start "${file}": a string passed to it contains a NUL character. Remove it`,
    );
  const badName = Object.keys(env).find((name) => !VARIABLE_NAME.test(name));
  if (badName === undefined) return undefined;
  return new GauntletError(
    'tool_failed',
    `Cannot start "${file}": "${badName}" is not a valid variable name. Rename it`,
  );
}
