/**
 * The process of a language server, and the JSON-RPC over its pipes.
 */
import { once } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { MessageConnection } from 'vscode-jsonrpc/node';
import type { LanguageServerSettings } from '../../../config/settings/language-servers.ts';
import { cutTextEnd } from '../../../src/base/cut-text.ts';
import type { Jail } from '../../../src/process/jail/jail.ts';
import type { JailPlace } from '../../../src/process/jail/place.ts';
import type { HostedProcess, ProcessHost, SpawnRequest } from '../../../src/process/process-host.ts';

/** One message of a server. More is a fault, or an attack on the memory of this process. */
const MAX_MESSAGE_BYTES = 32 * 1_024 * 1_024;

/** Requests of a server that it has read no answer for. A server that reads has a few. */
const MAX_UNANSWERED = 1_000;

/** A message is read, queued and handled within so many turns of the event loop; after as many quiet ones, none is left. */
const QUIET_TURNS = 4;

/** The end of its standard error, to explain a failure. */
const STDERR_CHARS = 2_000;

/** Options of starting a server. */
export interface ServerStart {
  readonly name: string;
  readonly settings: LanguageServerSettings;
  /** Absolute path of the program. */
  readonly command: string;
  /** Real path of the session's folder. */
  readonly root: string;
  readonly processHost: ProcessHost;
  /** The jail that it runs in; absent: none, because a person allowed it. */
  readonly contained?: { readonly jail: Jail; readonly place: JailPlace };
  /** Called with what the server is doing while it starts. */
  onStatus(text: string): void;
}

/** A running process, and the streams over its pipes. */
export interface ServerPipes {
  readonly child: HostedProcess;
  readonly fromServer: PassThrough;
  readonly toServer: Writable;
  /** Aborted when the process has ended. */
  readonly gone: AbortSignal;
  readonly messages: ReturnType<typeof createMessageMeter>;
  /** The end of its standard error. */
  written(): string;
}

/** Start the process of a server. @throws {GauntletError} As `HostedProcess.started` and `Jail.within`. */
export async function openPipes({
  settings,
  command,
  root,
  processHost,
  contained,
}: ServerStart): Promise<ServerPipes> {
  const fromServer = new PassThrough();
  const gone = new AbortController();
  const messages = createMessageMeter();
  let written = '';
  const onOutput: SpawnRequest['onOutput'] = (stream, chunk) => {
    if (stream === 'stderr') return void (written = cutTextEnd(written + chunk.toString('utf8'), STDERR_CHARS));
    messages.received(chunk.length);
    // Copied: the chunk belongs to a buffer that is used again.
    if (!fromServer.write(Buffer.from(chunk))) return once(fromServer, 'drain').then(messages.allHandled);
    return messages.allHandled();
  };
  const child = await new Promise<HostedProcess>((resolve, reject) => {
    const run = async (request: Pick<SpawnRequest, 'file' | 'args'> & Partial<SpawnRequest>) => {
      const spawned = processHost.spawn({ cwd: root, ...request, stdin: 'pipe', onOutput });
      await spawned.started;
      resolve(spawned);
      await spawned.exited;
      gone.abort();
      fromServer.end();
      await spawned.killTree();
    };
    const { args, env } = settings;
    const running = contained
      ? contained.jail.within(contained.place, false, ({ request, program }) =>
          run({ ...program(command, args), env: { ...env, ...request.env } }),
        )
      : run({ file: command, args, env });
    running.catch(reject);
  });
  const toServer = new Writable({
    write(chunk: Buffer, _encoding, taken) {
      const isTaken = () => {
        messages.answered();
        taken();
      };
      void child.write(chunk).then(isTaken, taken);
    },
  });
  return {
    ...{ child, fromServer, toServer, messages, gone: gone.signal },
    written: () => written.trim(),
  };
}

/** Create the count of what a server sends: its output is taken no faster than its messages are handled. */
function createMessageMeter() {
  let bytesSinceMessage = 0;
  let unanswered = 0;
  let steps = 0;
  return {
    /** Add bytes of output. @throws {Error} If the server sends without an end, or without reading. */
    received(bytes: number): void {
      bytesSinceMessage += bytes;
      if (bytesSinceMessage > MAX_MESSAGE_BYTES) throw new Error('a message that is too long');
      if (unanswered > MAX_UNANSWERED) throw new Error('requests whose answers are not read');
    },
    /** Note that a message has been read, which then waits for its turn. */
    read: () => void (steps += 1),
    handled(isRequest: boolean): void {
      bytesSinceMessage = 0;
      steps += 1;
      if (isRequest) unanswered += 1;
    },
    /** Note that the server has read something. */
    answered: () => void (unanswered = 0),
    /** Wait until all that was received is handled: the JSON-RPC takes one message a turn, and queues the rest in memory. */
    async allHandled(): Promise<void> {
      for (let before = -1; before !== steps;) {
        before = steps;
        for (let turn = 0; turn < QUIET_TURNS; turn += 1) await nextTurn();
      }
    },
  };
}

/** Create the JSON-RPC over the pipes; it does not listen yet. */
export async function connect({ fromServer, toServer, messages }: ServerPipes): Promise<MessageConnection> {
  // Loaded with the first server: most starts have none.
  const { default: rpc } = await import('vscode-jsonrpc/node');
  const reader = new rpc.StreamMessageReader(fromServer);
  const listen = reader.listen.bind(reader);
  reader.listen = (take) =>
    listen((message) => {
      messages.read();
      take(message);
    });
  return rpc.createMessageConnection(reader, new rpc.StreamMessageWriter(toServer), undefined, {
    messageStrategy: {
      handleMessage(message, next) {
        messages.handled(rpc.Message.isRequest(message));
        return next(message);
      },
    },
  });
}
