/**
 * Lines go to the audit trail's files: those of one turn of the event loop in one write, behind the commit they tell of.
 *
 * A disk that refuses stops nothing: what could not be written is counted, and the first line that can says how much.
 */
import { appendFileSync, closeSync, constants, fstatSync, openSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { Limits } from '../../config/limits.ts';
import { errorMessage } from '../base/errors.ts';
import type { OnLogProblem } from './log-problem.ts';
import { ensurePrivateFolder } from './private-folder.ts';

/** How to open the trail. */
export interface AuditFileOptions {
  /** Absolute; made if need be. The newest file is `audit.jsonl`, older ones `audit.1.jsonl` and on. */
  readonly folder: string;
  readonly limits: Pick<Limits, 'auditFileBytes' | 'auditFiles'>;
  /** Told once of a disk that refuses, and again when that happens after it had recovered. */
  readonly onProblem: OnLogProblem;
}

/** Takes lines. */
export interface AuditFile {
  /** Keep a line, without its end; it is on disk before the event loop turns again. Never throws. */
  write(line: string): void;
  /** Write what waits, and let go of the file. */
  close(): void;
}

/** Open the trail, behind what stands in it. @throws {GauntletError} `invalid_setting` if the folder is not private. */
export function openAuditFile(options: AuditFileOptions): AuditFile {
  ensurePrivateFolder(options.folder, []);
  return new AppendedFile(options);
}

const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
/** A pipe that stands there is refused, not waited for. */
const APPEND = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK;

class AppendedFile implements AuditFile {
  readonly #options: AuditFileOptions;
  /** Lines of this turn. */
  #waiting: string[] = [];
  /** Descriptor of the newest file, open since its first line. */
  #file: number | undefined;
  #bytes = 0;
  /** Lines that could not be kept since the last that was. */
  #lost = 0;
  /** The last write failed: the file may end in half a line. */
  #isTorn = false;

  constructor(options: AuditFileOptions) {
    this.#options = options;
  }

  write(line: string): void {
    // All sessions of one commit are told of it in a row: behind the last of them.
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
    if (this.#bytes > 0 && this.#bytes + bytes > this.#options.limits.auditFileBytes) file = this.#beginNext(file);
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
    const message = `Cannot write the audit trail: ${errorMessage(cause)}. Calls go on; what is missing is counted`;
    this.#options.onProblem({ code: 'audit_unwritable', message, cause });
  }

  #open(): number {
    const file = openSync(this.#path(0), APPEND, 0o600);
    this.#bytes = fstatSync(file).size;
    return file;
  }

  /** The newest becomes the first of the old ones, and the oldest goes. */
  #beginNext(file: number): number {
    this.#file = undefined;
    closeSync(file);
    for (let age = this.#options.limits.auditFiles; age > 0; age--) {
      try {
        renameSync(this.#path(age - 1), this.#path(age));
      } catch (error) {
        // So many files there have not been yet.
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
