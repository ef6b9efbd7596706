/**
 * Writes lines to the files of the audit trail: the lines of one turn of the event loop in one write, after the commit
 * they describe.
 *
 * A full or broken disk never stops a call: lost lines are counted, and the next line that can be written states the
 * count.
 */
import { appendFileSync, closeSync, constants, fstatSync, openSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { Limits } from '../../config/limits.ts';
import { errorMessage } from '../base/errors.ts';
import type { OnLogProblem } from './log-problem.ts';
import { ensurePrivateFolder } from './private-folder.ts';

/** Options of `openAuditFile`. */
export interface AuditFileOptions {
  /** Absolute path; created if missing. The newest file is `audit.jsonl`, older ones `audit.1.jsonl` and so on. */
  readonly folder: string;
  readonly limits: Pick<Limits, 'auditFiles'>;
  /** Size at which the next file is begun. */
  readonly fileBytes?: number;
  /** Called on the first failed write, and again for a failure after a recovery. */
  readonly onProblem: OnLogProblem;
}

/** Append-only file of the audit trail, with rotation. */
export interface AuditFile {
  /** Queue a line without its line break. It is written before the event loop turns again. Never throws. */
  write(line: string): void;
  /** Write the queued lines and close the file. */
  close(): void;
}

/**
 * Open the trail; new lines are appended to the existing file.
 *
 * @throws {GauntletError} `invalid_setting` if the folder is not private.
 */
export function openAuditFile(options: AuditFileOptions): AuditFile {
  ensurePrivateFolder(options.folder, []);
  return new AppendedFile(options);
}

/** Size of one file. */
const MAX_FILE_BYTES = 32 * 1_024 * 1_024;

const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
/** `O_NONBLOCK` makes opening a named pipe fail instead of waiting for a reader. */
const APPEND = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK;

class AppendedFile implements AuditFile {
  readonly #options: AuditFileOptions;
  /** Lines queued in this turn of the event loop. */
  #waiting: string[] = [];
  /** Descriptor of the newest file, open since the first write. */
  #file: number | undefined;
  #bytes = 0;
  /** Lines lost since the last successful write. */
  #lost = 0;
  /** True after a failed write: the file may end in a partial line. */
  #isTorn = false;

  constructor(options: AuditFileOptions) {
    this.#options = options;
  }

  write(line: string): void {
    // All sessions of one commit are notified in a row; the microtask runs after the last of them.
    if (this.#waiting.push(line) === 1) queueMicrotask(() => this.#flush());
  }

  close(): void {
    this.#flush();
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #flush(): void {
    const lines = this.#waiting;
    if (lines.length === 0) return;
    this.#waiting = [];
    try {
      this.#append(lines);
    } catch (cause) {
      this.#failed(lines.length, cause);
    }
  }

  #append(lines: readonly string[]): void {
    const gap = this.#lost > 0 ? `${gapLine(this.#lost)}\n` : '';
    const text = `${this.#isTorn ? '\n' : ''}${gap}${lines.join('\n')}\n`;
    const bytes = Buffer.byteLength(text);
    let file = (this.#file ??= this.#open());
    if (this.#bytes > 0 && this.#bytes + bytes > (this.#options.fileBytes ?? MAX_FILE_BYTES))
      file = this.#beginNext(file);
    appendFileSync(file, text);
    this.#bytes += bytes;
    this.#lost = 0;
    this.#isTorn = false;
  }

  #failed(count: number, cause: unknown): void {
    const isFirst = !this.#isTorn;
    this.#lost += count;
    this.#isTorn = true;
    if (!isFirst) return;
    const message = `Cannot write the audit trail: ${errorMessage(cause)}. Calls continue, and lost lines are counted`;
    this.#options.onProblem({ code: 'audit_unwritable', message, cause });
  }

  #open(): number {
    const file = openSync(this.#path(0), APPEND, 0o600);
    this.#bytes = fstatSync(file).size;
    return file;
  }

  /** Rotate the files: each moves up by one age, and the oldest is overwritten. */
  #beginNext(file: number): number {
    this.#file = undefined;
    closeSync(file);
    for (let age = this.#options.limits.auditFiles; age > 0; age--) {
      try {
        renameSync(this.#path(age - 1), this.#path(age));
      } catch (error) {
        // Fewer than `auditFiles` files exist so far.
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      }
    }
    return (this.#file = this.#open());
  }

  #path(age: number): string {
    return join(this.#options.folder, age === 0 ? 'audit.jsonl' : `audit.${age}.jsonl`);
  }
}

function gapLine(lost: number): string {
  return JSON.stringify({ ts: new Date().toISOString(), event: 'gap', lost });
}
