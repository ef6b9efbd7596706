/**
 * Pipes in stock. Node's own are socket pairs, which no program can open again by name: with them
 * `echo >/dev/stderr`, `tee /dev/stderr` and `cat /dev/stdin` fail.
 */
import { execFile } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The two ends of a pipe, both blocking, both closed in children that are not given them. */
export interface Pipe {
  readonly reader: number;
  readonly writer: number;
}

/** A stock of pipes. */
export interface PipeSupply {
  /** @returns undefined when there is none: sockets have to do. */
  take(): Pipe | undefined;
  /** Make what is missing, where much is. Never rejects. */
  fill(): Promise<void>;
  /** Close those in stock. Resolves when none is being made, so that no name stays behind. */
  close(): Promise<void>;
}

/** Made at once: one fork for the pipes of a few children. */
const BATCH = 48;
const LOW = 16;

/** Make an empty supply. */
export function createPipeSupply(): PipeSupply {
  const stock: Pipe[] = [];
  let filling: Promise<void> | undefined;
  let isClosed = false;

  async function makeBatch(): Promise<void> {
    try {
      const pipes = await makePipes(BATCH);
      if (isClosed) pipes.forEach(closePipe);
      else stock.push(...pipes);
    } catch {
      // No descriptors, no room for the names, no mkfifo: children get sockets until it goes well.
    }
    filling = undefined;
  }

  return {
    take: () => stock.pop(),
    fill: () => (stock.length > LOW ? Promise.resolve() : (filling ??= makeBatch())),
    async close() {
      isClosed = true;
      await filling;
      stock.splice(0).forEach(closePipe);
    },
  };
}

/** Close both ends. */
export function closePipe({ reader, writer }: Pipe): void {
  closeSync(reader);
  closeSync(writer);
}

/** The kernel's pipes by the one way that Node leaves open: named ones, whose names go at once. */
async function makePipes(count: number): Promise<Pipe[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gauntlet-pipes-'));
  const pipes: Pipe[] = [];
  try {
    const paths = Array.from({ length: count }, (_, index) => join(folder, String(index)));
    await promisify(execFile)('mkfifo', ['-m', '600', ...paths]);
    for (const path of paths) pipes.push(openPipe(path));
    return pipes;
  } catch (error) {
    pipes.forEach(closePipe);
    throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function openPipe(path: string): Pipe {
  // Either end alone would wait for the other one.
  const both = openSync(path, constants.O_RDWR);
  try {
    const reader = openSync(path, constants.O_RDONLY);
    try {
      return { reader, writer: openSync(path, constants.O_WRONLY) };
    } catch (error) {
      closeSync(reader);
      throw error;
    }
  } finally {
    closeSync(both);
  }
}
