/**
 * Lines go to the audit trail's files: in batches, behind the calls they are about, never in their way.
 *
 * A disk that refuses stops nothing: what could not be written is counted, and the first line that can says how much.
 */
import { constants } from 'node:fs';
import { open, rename, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { Limits } from '../../config/limits.ts';
import { errorMessage } from '../contract/errors.ts';
import type { OnLogProblem } from './log-problem.ts';
import { ensurePrivateFolder } from './private-folder.ts';

/** How to open the trail. */
export interface AuditFileOptions {
  /** Absolute; made if need be. The newest file is `audit.jsonl`, older ones `audit.1.jsonl` and on. */
  readonly folder: string;
  readonly limits: Pick<Limits, 'auditFileBytes' | 'auditFiles' | 'auditFlushMs' | 'auditQueue'>;
  /** Told once of a disk that refuses, and again when that happens after it had recovered. */
  readonly onProblem: OnLogProblem;
}

/** Takes lines. */
export interface AuditFile {
  /** Keep a line, without its end; it is on disk soon. Never throws. */
  write(line: string): void;
  /** Write what waits, and let go of the file. */
  close(): Promise<void>;
}

/** Open the trail, behind what stands in it. @throws {GauntletError} `invalid_setting` if the folder is not private. */
export function openAuditFile(options: AuditFileOptions): AuditFile {
  ensurePrivateFolder(options.folder, []);
  return new BatchedFile(options);
}

const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;

class BatchedFile implements AuditFile {
  readonly #options: AuditFileOptions;
  #waiting: string[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** The batch on its way; the next waits for it. */
  #writing: Promise<void> | undefined;
  #file: FileHandle | undefined;
  #bytes = 0;
  /** Lines that could not be kept since the last that was. */
  #lost = 0;
  /** A batch failed: the file may end in half a line. */
  #isTorn = false;

  constructor(options: AuditFileOptions) {
    this.#options = options;
  }

  write(line: string): void {
    const { auditQueue, auditFlushMs } = this.#options.limits;
    if (this.#waiting.length >= auditQueue) {
      this.#lost += 1;
      return;
    }
    this.#waiting.push(line);
    this.#timer ??= setTimeout(() => this.#flush(), auditFlushMs).unref();
  }

  async close(): Promise<void> {
    await this.#writing;
    this.#flush();
    await this.#writing;
    await this.#file?.close();
    this.#file = undefined;
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#writing || this.#waiting.length === 0) return;
    const lines = this.#waiting;
    this.#waiting = [];
    this.#writing = this.#append(lines)
      .catch((error: unknown) => this.#failed(lines.length, error))
      .finally(() => {
        this.#writing = undefined;
        if (this.#waiting.length > 0) this.#timer ??= setTimeout(() => this.#flush(), 0).unref();
      });
  }

  async #append(lines: readonly string[]): Promise<void> {
    const { limits } = this.#options;
    const gap = this.#lost > 0 ? [gapLine(this.#lost)] : [];
    const bytes = Buffer.from(`${this.#isTorn ? '\n' : ''}${[...gap, ...lines].join('\n')}\n`);
    let file = (this.#file ??= await this.#open());
    if (this.#bytes > 0 && this.#bytes + bytes.length > limits.auditFileBytes) file = await this.#beginNext();
    await file.appendFile(bytes);
    this.#bytes += bytes.length;
    if (gap.length > 0) this.#lost = 0;
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

  async #open(): Promise<FileHandle> {
    const file = await open(this.#path(0), APPEND, 0o600);
    this.#bytes = (await file.stat()).size;
    return file;
  }

  /** The newest becomes the first of the old ones, and the oldest goes. */
  async #beginNext(): Promise<FileHandle> {
    await this.#file?.close();
    this.#file = undefined;
    for (let age = this.#options.limits.auditFiles; age > 0; age--) {
      await rename(this.#path(age - 1), this.#path(age)).catch((error: NodeJS.ErrnoException) => {
        // So many files there have not been yet.
        if (error.code !== 'ENOENT') throw error;
      });
    }
    return (this.#file = await this.#open());
  }

  #path(age: number): string {
    return join(this.#options.folder, age === 0 ? 'audit.jsonl' : `audit.${age}.jsonl`);
  }
}

function gapLine(lost: number): string {
  return JSON.stringify({ ts: new Date().toISOString(), event: 'gap', lost });
}
