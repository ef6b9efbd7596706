/**
 * One process of the REPL, from the server's side. The code in it may send whatever it likes: a message is one line that
 * begins with a token, is checked, and can do no more than ask for a tool call of the run that is under way.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { cutTextEnd } from '../../../src/base/cut-text.ts';
import { GauntletError } from '../../../src/base/errors.ts';
import type { JsonValue } from '../../../src/base/json.ts';
import { splitLines } from '../../../src/mcp/stdio-transport.ts';
import type { Jail } from '../../../src/process/jail/jail.ts';
import type { JailPlace } from '../../../src/process/jail/place.ts';
import type { HostedProcess, OutputStream, ProcessHost, SpawnRequest } from '../../../src/process/process-host.ts';
import type { WarmProcess } from '../warm-processes.ts';

/** A process that is ready within this time; on a busy machine Node takes seconds. */
const START_MS = 30_000;

/** A cancelled run that has not ended by then ends with its process. */
const CANCEL_MS = 1_000;

/** One line of the process: the input of a tool call, or what code prints without a line break. */
const MAX_LINE_BYTES = 8 * 1_024 * 1_024;

/** Output of one run; more is a loop that prints. */
const MAX_OUTPUT_BYTES = 16 * 1_024 * 1_024;

/** Calls of one run at once: the process waits before it sends more. */
const MAX_OPEN_CALLS = 32;

/** Answers that the process has not read. */
const MAX_UNREAD_CHARS = 64 * 1_024 * 1_024;

/** The longest run, with all its tool calls. */
const MAX_RUN_MS = 60 * 60_000;

/** Heap of the process in MiB; the jail bounds its memory beyond that. */
const HEAP_MIB = 512;

/** Options that hold the code to what the permission model lets through: nothing is granted. */
const PERMISSION_FLAG = ['--permission', '--experimental-permission'].find((flag) =>
  process.allowedNodeEnvironmentFlags.has(flag),
);

/** True if this Node can hold code to no files, no children and no threads. */
export const hasPermissionModel = PERMISSION_FLAG !== undefined;

/** A tool call that code asks for. */
export interface ToolCall {
  readonly name: string;
  readonly input: JsonValue;
}

/** Answer to a tool call: what the function in the process returns, or throws. */
export type ToolAnswer =
  { readonly content: unknown; readonly data?: unknown } | { readonly error: string; readonly code?: string };

/** One run of code. */
export interface CodeRun {
  readonly code: string;
  /** Names of the functions that call tools. */
  readonly tools: readonly string[];
  /** Time for the code itself; while a tool call runs, it stands still. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Answers a tool call. Never rejects. */
  onCall(call: ToolCall): Promise<ToolAnswer>;
  /** Answers the question what a tool is for. */
  onHelp(name: string): ToolAnswer;
  onOutput(stream: OutputStream, text: string): void;
}

/** How a run ended. In all but the first case its process has ended, or is ending. */
export type CodeEnd =
  | { readonly kind: 'done'; readonly isOk: boolean; readonly text?: string }
  | { readonly kind: 'timeout' | 'cancelled' }
  | { readonly kind: 'gone'; readonly reason: string };

/** What a process needs to start. */
export interface ReplStart {
  readonly processHost: ProcessHost;
  /** Absolute path; the working directory where there is no jail. */
  readonly cwd: string;
  /** Absent: nothing but the permission model holds the code. */
  readonly contained?: { readonly jail: Jail; readonly place: JailPlace };
}

/** JSON already, as it was parsed; the call that it is for checks it. A schema of JSON takes seconds for a wide value. */
const Input = z.custom<JsonValue>((value) => value !== undefined);

const Message = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready') }),
  z.object({ type: z.literal('output'), stream: z.enum(['stdout', 'stderr']), text: z.string() }),
  z.object({ type: z.literal('call'), run: z.int(), id: z.int(), name: z.string(), input: Input }),
  z.object({ type: z.literal('help'), run: z.int(), id: z.int(), name: z.string() }),
  z.object({ type: z.literal('done'), run: z.int(), isOk: z.boolean(), text: z.string().optional() }),
]);
type Message = z.output<typeof Message>;

/** A run that is under way. */
interface UnderWay extends CodeRun {
  readonly number: number;
  readonly end: (end: CodeEnd) => void;
  openCalls: number;
  outputBytes: number;
}

/** Start a process. @throws {GauntletError} */
export async function startRepl(start: ReplStart): Promise<ReplProcess> {
  const repl = new ReplProcess();
  await repl.start(start);
  return repl;
}

/** A process that keeps the values of one session's code. It stands still while no code of a call runs. */
export class ReplProcess implements WarmProcess {
  readonly #token = randomBytes(16).toString('hex');
  readonly #gone = new AbortController();
  #child: HostedProcess | undefined;
  #run: UnderWay | undefined;
  #runs = 0;
  #unreadChars = 0;
  #onReady: () => void = () => undefined;
  /** Resolves when another tool call may be taken. */
  #room: { readonly promise: Promise<void>; readonly open: () => void } | undefined;
  /** The end of what it wrote before it was ready. */
  #written = '';
  #endReason: string | undefined;

  get isGone(): boolean {
    return this.#endReason !== undefined || this.#gone.signal.aborted;
  }

  /** True while code runs. */
  get isBusy(): boolean {
    return this.#run !== undefined;
  }

  async start({ processHost, cwd, contained }: ReplStart): Promise<void> {
    const ready = new Promise<void>((resolve) => (this.#onReady = resolve));
    const push = splitLines(
      MAX_LINE_BYTES,
      (line) => this.#receive(line),
      () => void this.#stop(`it wrote a line of more than ${MAX_LINE_BYTES} bytes`),
    );
    const onOutput: SpawnRequest['onOutput'] = (stream, chunk) => {
      if (stream === 'stdout') push(chunk);
      else this.#print('stderr', chunk.toString('utf8'));
      return this.#room?.promise;
    };
    // In a function, so that no name of the program is one of the code's.
    const program = readFileSync(new URL('./repl-process.cjs', import.meta.url), 'utf8');
    const flags = [...(PERMISSION_FLAG === undefined ? [] : [PERMISSION_FLAG]), '--no-warnings', '--no-addons'];
    const args = [...flags, `--max-old-space-size=${HEAP_MIB}`, '--eval', `(() => {${program}})()`];
    const started = new Promise<void>((resolve, reject) => {
      const run = async (request: Partial<SpawnRequest>) => {
        const child = processHost.spawn({ file: process.execPath, args, cwd, ...request, stdin: 'pipe', onOutput });
        await child.started;
        this.#child = child;
        resolve();
        const { code, signal } = await child.exited;
        this.#end(`it ended (${String(signal ?? code)})`);
        await child.killTree();
      };
      const running = contained
        ? contained.jail.within(contained.place, false, ({ request: { env }, program: inJail, temporaryFolder }) =>
            run({ ...inJail(process.execPath, args), env, cwd: temporaryFolder }),
          )
        : run({});
      running.catch(reject);
    });
    await started;
    this.#write({ type: 'start', token: this.#token });
    const timer = setTimeout(() => void this.#stop('it was not ready in time'), START_MS);
    await Promise.race([ready, new Promise((resolve) => this.#gone.signal.addEventListener('abort', resolve))]);
    clearTimeout(timer);
    if (!this.isGone) return;
    const message = `Cannot start the REPL: ${this.#endReason ?? 'it ended'}. It wrote: ${this.#written.trim()}`;
    throw new GauntletError('tool_failed', message);
  }

  /** Run code, one run at a time. */
  async run(run: CodeRun): Promise<CodeEnd> {
    const number = ++this.#runs;
    let end: (end: CodeEnd) => void = () => undefined;
    const ended = new Promise<CodeEnd>((resolve) => (end = resolve));
    const underWay: UnderWay = { ...run, number, end, openCalls: 0, outputBytes: 0 };
    this.#run = underWay;
    const stopClock = runClock(underWay, () => {
      end({ kind: 'timeout' });
      void this.#stop('it was ended for its time');
    });
    let cancelling: NodeJS.Timeout | undefined;
    const cancel = () => {
      this.#write({ type: 'cancel', run: number });
      cancelling = setTimeout(() => {
        end({ kind: 'cancelled' });
        void this.#stop('it did not end when its call was cancelled');
      }, CANCEL_MS);
    };
    run.signal.addEventListener('abort', cancel, { once: true });
    try {
      this.#child?.signal('SIGCONT');
      this.#write({ type: 'run', run: number, code: run.code, tools: run.tools });
      if (run.signal.aborted) cancel();
      if (this.isGone) end({ kind: 'gone', reason: this.#endReason ?? 'it ended' });
      return await ended;
    } finally {
      stopClock();
      clearTimeout(cancelling);
      run.signal.removeEventListener('abort', cancel);
      // From here on nothing that the code still asks for is done, and its timers stand still.
      this.#run = undefined;
      this.#room?.open();
      if (!this.isGone) this.#child?.signal('SIGSTOP');
    }
  }

  async end(): Promise<void> {
    await this.#stop('it was ended');
  }

  async #stop(reason: string): Promise<void> {
    this.#endReason ??= reason;
    this.#room?.open();
    // A process that stands still would not notice that it is asked to end.
    this.#child?.signal('SIGCONT');
    await this.#child?.killTree();
    this.#end(reason);
  }

  #end(reason: string): void {
    this.#endReason ??= reason;
    this.#gone.abort();
    this.#run?.end({ kind: 'gone', reason: this.#endReason });
  }

  /** Write one line. A process that does not read is ended before what waits takes the memory. */
  #write(message: object): void {
    const line = `${JSON.stringify(message)}\n`;
    this.#unreadChars += line.length;
    if (this.#unreadChars > MAX_UNREAD_CHARS) return void this.#stop('it does not read the answers of its tool calls');
    const written = this.#child?.write(line) ?? Promise.resolve();
    // A write to a process that has ended fails, and its end is what is told.
    void written.catch(() => undefined).then(() => (this.#unreadChars -= line.length));
  }

  #receive(line: Buffer): void {
    if (line.length === 0) return;
    const text = line.toString('utf8');
    const message = text.startsWith(`${this.#token} `) ? this.#parse(text.slice(this.#token.length + 1)) : undefined;
    // What code writes to the pipe by itself is output, whatever it looks like.
    if (message === undefined) this.#print('stdout', `${text}\n`);
    else this.#handle(message);
  }

  #parse(text: string): Message | undefined {
    try {
      return Message.parse(JSON.parse(text));
    } catch {
      // Code that has found the token may send anything.
      return undefined;
    }
  }

  #handle(message: Message): void {
    const run = this.#run;
    if (message.type === 'ready') return this.#onReady();
    if (message.type === 'output') return this.#print(message.stream, message.text);
    if (message.run !== run?.number) {
      if (message.type === 'call' || message.type === 'help') this.#refuse(message.id);
      return;
    }
    if (message.type === 'done') {
      return run.end({ kind: 'done', isOk: message.isOk, ...(message.text !== undefined && { text: message.text }) });
    }
    if (message.type === 'help') return this.#answer(message.id, run.onHelp(message.name));
    void this.#call(run, message);
  }

  async #call(run: UnderWay, { id, name, input }: Extract<Message, { type: 'call' }>): Promise<void> {
    run.openCalls += 1;
    if (run.openCalls >= MAX_OPEN_CALLS) this.#room ??= gate();
    const answer = await run.onCall({ name, input });
    run.openCalls -= 1;
    if (run.openCalls < MAX_OPEN_CALLS) {
      this.#room?.open();
      this.#room = undefined;
    }
    this.#answer(id, answer);
  }

  #refuse(id: number): void {
    const error = 'The run that makes this call has ended: call tools while a run waits for them';
    this.#answer(id, { error, code: 'cancelled' });
  }

  #answer(id: number, answer: ToolAnswer): void {
    this.#write({ type: 'answer', id, ...answer });
  }

  #print(stream: OutputStream, text: string): void {
    const run = this.#run;
    if (!run) return void (this.#written = cutTextEnd(this.#written + text, WRITTEN_CHARS));
    run.outputBytes += Buffer.byteLength(text);
    if (run.outputBytes > MAX_OUTPUT_BYTES) {
      return void this.#stop(`it printed more than ${MAX_OUTPUT_BYTES} bytes in one run`);
    }
    run.onOutput(stream, text);
  }
}

/** What a process printed outside of runs, for the reason of a failed start. */
const WRITTEN_CHARS = 2_000;

function gate(): { readonly promise: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const promise = new Promise<void>((resolve) => (open = resolve));
  return { promise, open };
}

/** Between two looks at a run's time. */
const TICK_MS = 50;

/**
 * Count the time of a run while no tool call runs.
 *
 * @param onEnd Called once when its time is over. @returns A function that stops the count.
 */
function runClock(run: UnderWay, onEnd: () => void): () => void {
  const startedMs = performance.now();
  let lookedMs = startedMs;
  let usedMs = 0;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    if (run.openCalls === 0) usedMs += nowMs - lookedMs;
    lookedMs = nowMs;
    if (usedMs < run.timeoutMs && nowMs - startedMs < MAX_RUN_MS) return;
    clearInterval(timer);
    onEnd();
  }, TICK_MS);
  return () => clearInterval(timer);
}
