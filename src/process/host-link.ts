/**
 * One process host from start to end: the children it runs and the replies it owes.
 */
import type { ExitedMessage, FailedMessage, JailOpenedMessage, StartedMessage } from './host/messages.ts';
import { FromHost, type HostFrame, ToHost, writeJsonFrame } from './host/protocol.ts';
import type { HostSettings } from './host/settings.ts';
import { connectHost, type HostConnection, type StartedHost } from './host-connection.ts';
import type { HostedProcess, JailHost, JailRules, JailSupport, SpawnRequest } from './process-host.ts';
import { spawnError } from './spawn-error.ts';
import { type HostWire, type LinkedChild, spawnOn } from './spawn-on-host.ts';

/** A running host, until it is lost. */
export interface HostLink extends JailHost {
  spawn(request: SpawnRequest): HostedProcess;
  /** Resolves when the host is up. */
  ping(): Promise<void>;
  /**
   * End processes that carry the owner's marker and were not started by this host.
   *
   * @returns Number of processes found.
   */
  sweep(): Promise<number>;
  /** Number of children that run. */
  readonly childCount: number;
  /** End every child and the host. */
  close(): Promise<void>;
}

/** Answer to queries about jails after the host is lost. */
const HOST_LOST = 'the process host was lost';

/** Frames that reply to a request, as opposed to events of a child. */
const REPLY_KINDS: ReadonlySet<number> = new Set([
  FromHost.treeKilled,
  FromHost.swept,
  FromHost.pong,
  FromHost.jails,
  FromHost.jailOpened,
]);

/** Use a host that was started. @param onLost Called once if it ends without `close`. */
export function openHostLink(host: StartedHost, settings: HostSettings, onLost: () => void): HostLink {
  return new Link(host, settings, onLost);
}

class Link implements HostLink, HostWire {
  readonly socket: HostWire['socket'];
  readonly #connection: HostConnection;
  readonly #onLost: () => void;
  readonly #children = new Map<number, LinkedChild>();
  readonly #replies = new Map<number, (payload: Buffer) => void>();
  #lastNumber = 0;
  #isClosing = false;
  #loss: NodeJS.ErrnoException | undefined;

  constructor(host: StartedHost, settings: HostSettings, onLost: () => void) {
    this.#onLost = onLost;
    this.#connection = connectHost(
      host,
      settings,
      (frame) => this.#receive(frame),
      (cause) => this.#handleLoss(cause),
    );
    this.socket = this.#connection.socket;
    this.#holdWhileBusy();
  }

  get childCount(): number {
    return this.#children.size;
  }

  spawn(request: SpawnRequest): HostedProcess {
    return spawnOn(this, (this.#lastNumber += 1), request);
  }

  async ping(): Promise<void> {
    await this.request(ToHost.ping, null);
  }

  async jailSupport(): Promise<JailSupport> {
    const answer = await this.request(ToHost.jails, null);
    return this.#loss === undefined ? parse<JailSupport>(answer) : { missing: HOST_LOST };
  }

  async openJail(rules: JailRules): Promise<string | undefined> {
    const answer = await this.request(ToHost.openJail, rules);
    return this.#loss === undefined ? parse<JailOpenedMessage>(answer).failure : HOST_LOST;
  }

  async sweep(): Promise<number> {
    return Number((await this.request(ToHost.sweep, null)).toString());
  }

  close(): Promise<void> {
    this.#isClosing = true;
    return this.#connection.end();
  }

  loss(): NodeJS.ErrnoException | undefined {
    return this.#loss;
  }

  add(id: number, child: LinkedChild): void {
    this.#children.set(id, child);
    this.#holdWhileBusy();
  }

  has(id: number): boolean {
    return this.#children.has(id);
  }

  request(kind: number, value: unknown): Promise<Buffer> {
    if (this.#loss !== undefined) return Promise.resolve(Buffer.from('0'));
    const id = (this.#lastNumber += 1);
    return new Promise((resolve) => {
      this.#replies.set(id, resolve);
      this.#holdWhileBusy();
      writeJsonFrame(this.socket, kind, id, value);
    });
  }

  #receive({ kind, child: id, payload }: HostFrame): void {
    const child = this.#children.get(id);
    if (REPLY_KINDS.has(kind)) {
      this.#replies.get(id)?.(payload);
      this.#replies.delete(id);
      this.#holdWhileBusy();
    }
    if (child === undefined) return;
    if (kind === FromHost.stdout) child.onOutput('stdout', payload);
    else if (kind === FromHost.stderr) child.onOutput('stderr', payload);
    else if (kind === FromHost.started) child.onStarted(parse<StartedMessage>(payload));
    else if (kind === FromHost.stdinTaken) child.writes.shift()?.();
    else if (kind === FromHost.failed)
      this.#forget(id, () => child.onFailed(spawnError(child.what, parse<FailedMessage>(payload))));
    else if (kind === FromHost.exited) this.#forget(id, () => child.onExited(parse<ExitedMessage>(payload)));
  }

  #forget(id: number, notify: () => void): void {
    for (const written of this.#children.get(id)?.writes ?? []) written();
    this.#children.delete(id);
    this.#holdWhileBusy();
    notify();
  }

  #handleLoss(cause: NodeJS.ErrnoException): void {
    this.#loss = cause;
    for (const [id, child] of this.#children) {
      this.#forget(id, () => {
        // The host can no longer end the started ones, so we do. The others will never start.
        void child.started.then(({ pid }) => endOrphan(pid)).catch(() => undefined);
        child.onLost(spawnError(child.what, cause));
      });
    }
    for (const reply of this.#replies.values()) reply(Buffer.from('0'));
    this.#replies.clear();
    if (!this.#isClosing) this.#onLost();
  }

  #holdWhileBusy(): void {
    this.#connection.hold(this.#children.size + this.#replies.size > 0);
  }
}

function endOrphan(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group has ended already.
  }
}

function parse<Message>(payload: Buffer): Message {
  return JSON.parse(payload.toString()) as Message;
}
