/**
 * Converts pages to Markdown on threads with bounded memory and a deadline, since hostile pages may exhaust both.
 */
import { Worker } from 'node:worker_threads';
import pLimit from 'p-limit';
import { errorMessage, GauntletError } from '../../../src/base/errors.ts';
import type { ReadPage } from './page-markdown.ts';
import type { PageAnswer, PageJob } from './page-worker.ts';

/** Reads pages. Threads start on demand and end when they are idle. */
export interface PageReader {
  /** @throws {GauntletError} `tool_failed` for a page that takes too much time or memory; the signal's reason. */
  read(job: PageJob, signal: AbortSignal): Promise<ReadPage>;
}

/** Pages converted at once, each on a thread of its own. */
const MAX_THREADS = 2;

/** Heap of a thread; a tree takes some 50 times the memory of its text. */
const HEAP_MIB = 384;

/** An idle thread ends after this time; starting one takes 0.2 s. */
const IDLE_MS = 10_000;

/** A thread without work. */
interface IdleThread {
  readonly worker: Worker;
  readonly end: NodeJS.Timeout;
}

/** Create it. @param readMs Time for one page. */
export function createPageReader(readMs: number): PageReader {
  const limit = pLimit(MAX_THREADS);
  const idle: IdleThread[] = [];

  function takeThread(): Worker {
    const found = idle.pop();
    if (found !== undefined) {
      clearTimeout(found.end);
      return found.worker;
    }
    const worker = startThread();
    // A thread that ended must not be reused, since it would never answer.
    worker.once('exit', () => forgetThread(worker));
    return worker;
  }

  function keepThread(worker: Worker): void {
    const end = setTimeout(() => {
      forgetThread(worker);
      void worker.terminate();
    }, IDLE_MS);
    end.unref();
    idle.push({ worker, end });
  }

  function forgetThread(worker: Worker): void {
    const at = idle.findIndex((thread) => thread.worker === worker);
    if (at !== -1) idle.splice(at, 1);
  }

  return {
    read: (job, signal) =>
      limit(async () => {
        signal.throwIfAborted();
        const worker = takeThread();
        let isLate = false;
        const end = () => void worker.terminate();
        const deadline = setTimeout(() => {
          isLate = true;
          end();
        }, readMs);
        signal.addEventListener('abort', end, { once: true });
        try {
          const answer = await askThread(worker, job);
          // A thread that is being terminated is not reused, even if it answered first.
          if (!isLate && !signal.aborted) keepThread(worker);
          if ('error' in answer) throw new Error(answer.error);
          return answer;
        } catch (cause) {
          signal.throwIfAborted();
          const why = isLate ? 'converting it to text takes too long' : errorMessage(cause);
          const fix = 'Download it with a command and search the file';
          throw new GauntletError('tool_failed', `Cannot read "${job.url}": ${why}. ${fix}`, { cause });
        } finally {
          clearTimeout(deadline);
          signal.removeEventListener('abort', end);
        }
      }),
  };
}

/** @throws The error that ended the thread without an answer. */
function askThread(worker: Worker, job: PageJob): Promise<PageAnswer> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => {
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      act();
    };
    const onMessage = (answer: PageAnswer) => settle(() => resolve(answer));
    const onError = (error: Error) => settle(() => reject(error));
    const onExit = () => settle(() => reject(new Error('its thread ended')));
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
    worker.postMessage(job);
  });
}

/** Start a thread: in development with a loader for TypeScript, in the bundle from the file beside it. */
function startThread(): Worker {
  const isSource = import.meta.url.endsWith('.ts');
  const entry = new URL(isSource ? './page-worker.ts' : './page-worker.js', import.meta.url);
  const options = {
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
  };
  const worker = isSource ? new Worker(sourceLoader(entry), { ...options, eval: true }) : new Worker(entry, options);
  // It must not keep the process alive. `askThread` reports its errors.
  worker.unref();
  worker.on('error', () => undefined);
  return worker;
}

function sourceLoader(entry: URL): string {
  const loader = JSON.stringify(import.meta.resolve('tsx/esm/api'));
  return `import(${loader}).then(({ register }) => { register(); return import(${JSON.stringify(entry.href)}); })`;
}
