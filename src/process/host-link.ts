/**
 * One life of a process host: the children it runs for us and the answers it owes us.
 */
import type { ExitedMessage, FailedMessage, StartedMessage } from './host/messages.ts';
import { FromHost, ToHost, writeJsonFrame } from './host/protocol.ts';
import type { HostFrame } from './host/protocol.ts';
import type { HostSettings } from './host/settings.ts';
import { connectHost } from './host-connection.ts';
import type { HostedProcess, SpawnRequest } from './process-host.ts';
import { spawnError } from './spawn-error.ts';
import { spawnOn } from './spawn-on-host.ts';
import type { HostWire, LinkedChild } from './spawn-on-host.ts';

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
  const wire: HostWire = {
    socket: connection.socket,
    windowBytes: settings.windowBytes,
    loss: () => loss,
    add(id, child) {
      children.set(id, child);
      holdWhileBusy();
    },
    has: (id) => children.has(id),
    ask,
  };
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
    else if (kind === FromHost.failed)
      forget(id, () => child.onFailed(spawnError(child.what, parse<FailedMessage>(payload))));
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

  return {
    spawn: (request) => spawnOn(wire, (lastNumber += 1), request),
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
