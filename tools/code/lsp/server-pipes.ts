/**
 * The process of a language server, and the JSON-RPC over its pipes.
 */
import { once } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import type { MessageConnection } from 'vscode-jsonrpc/node';
import type { LanguageServerSettings } from '../../../config/settings/language-servers.ts';
import { cutTextEnd } from '../../../src/base/cut-text.ts';
import type { Jail } from '../../../src/process/jail/jail.ts';
import type { JailPlace } from '../../../src/process/jail/place.ts';
import type { HostedProcess, ProcessHost, SpawnRequest } from '../../../src/process/process-host.ts';

/** One message of a server. More is a fault, or an attack on the memory of this process. */
const MAX_MESSAGE_BYTES = 32 * 1_024 * 1_024;

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
  /** Called for each complete message. */
  messageCame(): void;
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
  let bytesSinceMessage = 0;
  let written = '';
  const onOutput: SpawnRequest['onOutput'] = (stream, chunk) => {
    if (stream === 'stderr') return void (written = cutTextEnd(written + chunk.toString('utf8'), STDERR_CHARS));
    bytesSinceMessage += chunk.length;
    if (bytesSinceMessage > MAX_MESSAGE_BYTES) throw new Error('a message that is too long');
    // Copied: the chunk belongs to a buffer that is used again.
    if (!fromServer.write(Buffer.from(chunk))) return once(fromServer, 'drain').then(() => undefined);
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
    write: (chunk: Buffer, _encoding, taken) => void child.write(chunk).then(() => taken(), taken),
  });
  return {
    ...{ child, fromServer, toServer, gone: gone.signal },
    messageCame: () => void (bytesSinceMessage = 0),
    written: () => written.trim(),
  };
}

/** Create the JSON-RPC over the pipes; it does not listen yet. */
export async function connect({ fromServer, toServer, messageCame }: ServerPipes): Promise<MessageConnection> {
  // Loaded with the first server: most starts have none.
  const { default: rpc } = await import('vscode-jsonrpc/node');
  return rpc.createMessageConnection(
    new rpc.StreamMessageReader(fromServer),
    new rpc.StreamMessageWriter(toServer),
    undefined,
    {
      messageStrategy: {
        handleMessage(message, next) {
          messageCame();
          return next(message);
        },
      },
    },
  );
}
