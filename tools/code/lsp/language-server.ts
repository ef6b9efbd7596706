/**
 * One running language server: its process, the JSON-RPC over its pipes, the documents that calls have open in it, and
 * what it says on its own: diagnostics and how far it is with the project.
 */
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { MessageConnection } from 'vscode-jsonrpc/node';
import * as z from 'zod';
import { cutText } from '../../../src/base/cut-text.ts';
import { errorMessage, GauntletError } from '../../../src/base/errors.ts';
import { startFailure, type WarmProcess } from '../warm-processes.ts';
import { connect, openPipes, type ServerPipes, type ServerStart } from './server-pipes.ts';

/** A server reads its project before it answers the first request. */
const START_MS = 60_000;

/** One answer; a server that is stuck must not hold its call. */
const REQUEST_MS = 30_000;

/** Some servers answer with nothing while they read the project, and say so by progress: wait this long for its end. */
const LOADING_MS = 20_000;

/** A server that is going to read the project says so within this time after its first document. */
const REPORT_MS = 1_000;

/** Diagnostics come piece by piece: they are complete when none came for this long. */
const QUIET_MS = 500;

/** A server's own words about a request that it refuses. */
const REFUSAL_CHARS = 2_000;

/** Reports of progress at once: a server ends those that it begins. */
const MAX_PROGRESS = 50;
const PROGRESS_CHARS = 200;

/** A file as a server is told of it. */
export interface OpenDocument {
  /** Absolute real path. */
  readonly path: string;
  readonly languageId: string;
  readonly text: string;
}

/** A started server. */
export interface LanguageServer extends WarmProcess {
  /** Do something while the server has a document open. Calls may overlap. */
  withDocument<Result>(document: OpenDocument, work: (uri: string) => Promise<Result>): Promise<Result>;
  /** @throws {GauntletError} `tool_failed` with the server's refusal, `timeout`; the signal's reason. */
  request(method: string, parameters: object, signal: AbortSignal): Promise<unknown>;
  /** Return the diagnostics of an open document, unchecked; `undefined` if none came in time. */
  diagnostics(uri: string, signal: AbortSignal): Promise<readonly unknown[] | undefined>;
  /** Wait until it has read the project, within bounds. @returns What it still does; `undefined` if it is idle. */
  loaded(signal: AbortSignal, onStatus: (text: string) => void): Promise<string | undefined>;
  /** Return the last error that the server has told of, once: why it knows less than it should. */
  takeComplaint(): string | undefined;
}

/** Start a server. @throws {GauntletError} With the end of its standard error. */
export async function startLanguageServer(start: ServerStart): Promise<LanguageServer> {
  const pipes = await openPipes(start);
  try {
    const server = new Server(start, pipes, await connect(pipes));
    await server.initialize();
    return server;
  } catch (error) {
    await pipes.child.killTree();
    throw startFailure(`the language server "${start.name}"`, error, pipes.written());
  }
}

const Initialized = z.looseObject({
  capabilities: z.looseObject({ diagnosticProvider: z.unknown().optional() }),
});
const Published = z.looseObject({ uri: z.string(), diagnostics: z.array(z.unknown()) });
const PulledReport = z.looseObject({ items: z.array(z.unknown()) });
/** Messages of type 1 are errors. */
const ErrorMessage = z.looseObject({ type: z.literal(1), message: z.string() });
const WorkProgress = z.looseObject({
  kind: z.enum(['begin', 'report', 'end']),
  title: z.string().optional(),
  message: z.string().optional(),
  percentage: z.number().optional(),
});
const ConfigurationQuestion = z.looseObject({ items: z.array(z.looseObject({ section: z.string().optional() })) });

/** A document that calls have open. */
interface Opened {
  readonly uri: string;
  text: string;
  version: number;
  users: number;
  diagnostics?: { readonly items: readonly unknown[]; readonly atMs: number };
}

class Server implements LanguageServer {
  readonly #start: ServerStart;
  readonly #pipes: ServerPipes;
  readonly #connection: MessageConnection;
  /** By real path. */
  readonly #documents = new Map<string, Opened>();
  /** Titles of the progress that has begun and not ended, by token. */
  readonly #progress = new Map<string, string>();
  readonly #watchers = new Set<() => void>();
  #pullsDiagnostics = false;
  #complaint: string | undefined;
  /** True once it has told of progress, or has had the time to. */
  #hasReported = false;
  #ending: Promise<void> | undefined;

  constructor(start: ServerStart, pipes: ServerPipes, connection: MessageConnection) {
    this.#start = start;
    this.#pipes = pipes;
    this.#connection = connection;
    pipes.gone.addEventListener('abort', () => connection.dispose(), { once: true });
    // What is no message ends it: behind that, nothing can be told apart.
    connection.onError(() => void this.end());
    this.#listen();
    connection.listen();
  }

  get isGone(): boolean {
    return this.#ending !== undefined || this.#pipes.gone.aborted;
  }

  async initialize(): Promise<void> {
    const { root, settings, onStatus } = this.#start;
    const uri = pathToFileURL(root).href;
    const stop = this.#watch(() => onStatus(this.#doing() ?? 'The server starts'));
    try {
      const answer = await this.#send(
        'initialize',
        {
          // In a jail it sees no process of ours, and would take us for dead.
          processId: null,
          clientInfo: { name: 'gauntlet' },
          rootPath: root,
          rootUri: uri,
          workspaceFolders: [{ uri, name: root }],
          capabilities: CAPABILITIES,
          initializationOptions: settings.initializationOptions ?? null,
        },
        { signal: new AbortController().signal, timeoutMs: START_MS },
      );
      this.#pullsDiagnostics = Boolean(Initialized.parse(answer).capabilities.diagnosticProvider);
      await this.#connection.sendNotification('initialized', {});
      await this.#connection.sendNotification('workspace/didChangeConfiguration', { settings: settings.settings });
    } finally {
      stop();
    }
  }

  async withDocument<Result>(document: OpenDocument, work: (uri: string) => Promise<Result>): Promise<Result> {
    const opened = await this.#open(document);
    try {
      return await work(opened.uri);
    } finally {
      opened.users -= 1;
      // A closed document is read from the disk again, where other tools change it.
      if (opened.users === 0) {
        this.#documents.delete(document.path);
        const closed = this.#notify('textDocument/didClose', { textDocument: { uri: opened.uri } });
        // A server that has ended has nothing open; the answer is there, or the reason why not.
        closed.catch(() => undefined);
      }
    }
  }

  request(method: string, parameters: object, signal: AbortSignal): Promise<unknown> {
    return this.#send(method, parameters, { signal, timeoutMs: REQUEST_MS });
  }

  async diagnostics(uri: string, signal: AbortSignal): Promise<readonly unknown[] | undefined> {
    if (this.#pullsDiagnostics) {
      const report = await this.request('textDocument/diagnostic', { textDocument: { uri } }, signal);
      return PulledReport.parse(report).items;
    }
    const published = () => [...this.#documents.values()].find((each) => each.uri === uri)?.diagnostics;
    const isComplete = () => performance.now() - (published()?.atMs ?? Infinity) >= QUIET_MS;
    await this.#until(isComplete, REQUEST_MS, signal);
    return published()?.items;
  }

  async loaded(signal: AbortSignal, onStatus: (text: string) => void): Promise<string | undefined> {
    const stop = this.#watch(() => onStatus(this.#doing() ?? 'The project is read'));
    try {
      // The first document makes it begin with the project, which it tells a little later.
      if (!this.#hasReported) await this.#until(() => this.#hasReported, REPORT_MS, signal);
      this.#hasReported = true;
      await this.#until(() => this.#progress.size === 0, LOADING_MS, signal);
    } finally {
      stop();
    }
    return this.#doing();
  }

  takeComplaint(): string | undefined {
    const complaint = this.#complaint;
    this.#complaint = undefined;
    return complaint;
  }

  end(): Promise<void> {
    return (this.#ending ??= this.#end());
  }

  async #end(): Promise<void> {
    this.#connection.dispose();
    // A server that only reads has nothing to save, so it is not asked to shut down.
    await this.#pipes.child.killTree();
  }

  async #open({ path, languageId, text }: OpenDocument): Promise<Opened> {
    const known = this.#documents.get(path);
    if (known) {
      known.users += 1;
      if (known.text === text) return known;
      known.text = text;
      known.version += 1;
      known.diagnostics = undefined;
      const textDocument = { uri: known.uri, version: known.version };
      await this.#notify('textDocument/didChange', { textDocument, contentChanges: [{ text }] });
      return known;
    }
    const opened: Opened = { uri: pathToFileURL(path).href, text, version: 1, users: 1 };
    this.#documents.set(path, opened);
    await this.#notify('textDocument/didOpen', { textDocument: { uri: opened.uri, languageId, version: 1, text } });
    return opened;
  }

  #listen(): void {
    const connection = this.#connection;
    const { settings, root } = this.#start;
    connection.onRequest('workspace/configuration', (question: unknown) => {
      const { items } = ConfigurationQuestion.parse(question);
      return items.map(
        ({ section }) => (section === undefined ? settings.settings : settings.settings[section]) ?? null,
      );
    });
    connection.onRequest('workspace/workspaceFolders', () => [{ uri: pathToFileURL(root).href, name: root }]);
    connection.onRequest('workspace/applyEdit', () => ({ applied: false }));
    for (const method of ACKNOWLEDGED) connection.onRequest(method, () => null);
    connection.onNotification('textDocument/publishDiagnostics', (said: unknown) => this.#keepDiagnostics(said));
    connection.onUnhandledProgress(({ token, value }) => this.#keepProgress(String(token), value));
    for (const method of ['window/showMessage', 'window/logMessage']) {
      connection.onNotification(method, (said: unknown) => {
        const { success, data } = ErrorMessage.safeParse(said);
        if (success) this.#complaint = cutText(data.message, REFUSAL_CHARS);
      });
    }
    // All else that a server says by itself is dropped.
    connection.onUnhandledNotification(() => undefined);
  }

  #keepDiagnostics(said: unknown): void {
    const { success, data } = Published.safeParse(said);
    const opened = success && this.#documents.get(pathOf(data.uri) ?? '');
    if (opened) opened.diagnostics = { items: data.diagnostics, atMs: performance.now() };
  }

  #keepProgress(token: string, value: unknown): void {
    const { success, data } = WorkProgress.safeParse(value);
    if (!success) return;
    this.#hasReported = true;
    if (data.kind === 'end') this.#progress.delete(token);
    else if (this.#progress.has(token) || this.#progress.size < MAX_PROGRESS) {
      const title = data.title ?? this.#progress.get(token)?.split(':')[0] ?? '';
      const percentage = data.percentage === undefined ? '' : `${Math.round(data.percentage)} %`;
      const details = [data.message ?? '', percentage].filter((part) => part !== '').join(', ');
      this.#progress.set(token, cutText(details === '' ? title : `${title}: ${details}`, PROGRESS_CHARS));
    }
    for (const watch of this.#watchers) watch();
  }

  #doing(): string | undefined {
    return this.#progress.size === 0 ? undefined : [...this.#progress.values()].join('; ');
  }

  #watch(onProgress: () => void): () => void {
    this.#watchers.add(onProgress);
    return () => void this.#watchers.delete(onProgress);
  }

  async #notify(method: string, parameters: object): Promise<void> {
    try {
      await this.#connection.sendNotification(method, parameters);
    } catch (error) {
      throw this.#failure(method, error);
    }
  }

  async #send(
    method: string,
    parameters: object,
    { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number },
  ): Promise<unknown> {
    const { default: rpc } = await import('vscode-jsonrpc/node');
    const source = new rpc.CancellationTokenSource();
    const stopped = AbortSignal.any([signal, this.#pipes.gone, AbortSignal.timeout(timeoutMs)]);
    let stop = (): void => undefined;
    const ended = new Promise<never>((_resolve, reject) => {
      stop = () => {
        source.cancel();
        reject(new Error('stopped'));
      };
      stopped.addEventListener('abort', stop, { once: true });
    });
    if (stopped.aborted) stop();
    try {
      return await Promise.race([this.#connection.sendRequest(method, parameters, source.token), ended]);
    } catch (error) {
      signal.throwIfAborted();
      const { name } = this.#start;
      if (this.isGone || !stopped.aborted) throw this.#failure(method, error);
      const message = `The language server "${name}" did not answer within ${timeoutMs / 1_000} s. Try again, or read the code`;
      throw new GauntletError('timeout', message);
    } finally {
      stopped.removeEventListener('abort', stop);
      source.dispose();
    }
  }

  #failure(method: string, error: unknown): GauntletError {
    if (this.isGone) return this.#hasEnded();
    const why = cutText(errorMessage(error), REFUSAL_CHARS);
    return new GauntletError('tool_failed', `The language server "${this.#start.name}" refused ${method}: ${why}`);
  }

  #hasEnded(): GauntletError {
    const written = this.#pipes.written();
    const tail = written === '' ? '' : `; it wrote: ${written}`;
    return new GauntletError('tool_failed', `The language server "${this.#start.name}" has ended${tail}. Ask again`);
  }

  /** Wait until something holds, at most for a time. */
  async #until(holds: () => boolean, timeoutMs: number, signal: AbortSignal): Promise<void> {
    const deadlineMs = performance.now() + timeoutMs;
    while (!holds() && performance.now() < deadlineMs) {
      signal.throwIfAborted();
      if (this.isGone) throw this.#hasEnded();
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }
}

/** Between two looks at what a server has said. */
const LOOK_MS = 25;

/** Requests of a server that are answered with nothing. */
const ACKNOWLEDGED = [
  'client/registerCapability',
  'client/unregisterCapability',
  'window/workDoneProgress/create',
  'window/showMessageRequest',
  'workspace/diagnostic/refresh',
];

/** Capabilities of this client. */
const CAPABILITIES = {
  general: { positionEncodings: ['utf-16'] },
  window: { workDoneProgress: true },
  workspace: { configuration: true, workspaceFolders: true },
  textDocument: {
    synchronization: { dynamicRegistration: false },
    definition: { linkSupport: true },
    references: {},
    hover: { contentFormat: ['markdown', 'plaintext'] },
    documentSymbol: { hierarchicalDocumentSymbolSupport: true },
    publishDiagnostics: { relatedInformation: false },
    diagnostic: {},
  },
};

/** Return the path of a `file:` address; `undefined` for any other. */
export function pathOf(uri: string): string | undefined {
  try {
    return fileURLToPath(uri);
  } catch {
    // Some servers show code that is in no file.
    return undefined;
  }
}
