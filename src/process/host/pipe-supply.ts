/**
 * Pipes in stock. Node's own are socket pairs, which no program can open again by name: with them
 * `echo >/dev/stderr`, `tee /dev/stderr` and `cat /dev/stdin` fail.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

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
  /** Close those in stock. */
  close(): void;
}

/** Made at once: one fork for the pipes of a few children. */
const BATCH = 48;
const LOW = 16;
/** Above those that a shell uses itself. */
const FIRST_DESCRIPTOR = 20;

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
      // No descriptors, or no /proc: children get sockets until it goes well.
    }
    filling = undefined;
  }

  return {
    take: () => stock.pop(),
    fill: () => (stock.length > LOW ? Promise.resolve() : (filling ??= makeBatch())),
    close() {
      isClosed = true;
      stock.splice(0).forEach(closePipe);
    },
  };
}

/** Close both ends. */
export function closePipe({ reader, writer }: Pipe): void {
  closeSync(reader);
  closeSync(writer);
}

/**
 * Node has no call that makes a pipe. A shell makes one for each here-string, and what it holds open
 * can be opened again through /proc, both ends of it.
 */
async function makePipes(count: number): Promise<Pipe[]> {
  const descriptors = Array.from({ length: count }, (_, index) => FIRST_DESCRIPTOR + index);
  const script = `exec ${descriptors.map((descriptor) => `${descriptor}<<<''`).join(' ')}; echo; read -r`;
  const shell = spawn('bash', ['--noprofile', '--norc', '-c', script], { stdio: ['pipe', 'pipe', 'ignore'] });
  // Told through `exit` or a missing stdout; without a listener it would end the host.
  shell.once('error', () => undefined);
  const pipes: Pipe[] = [];
  try {
    await Promise.race([
      once(shell.stdout, 'data'),
      once(shell, 'exit').then(() => Promise.reject(new Error('It ended early'))),
    ]);
    for (const descriptor of descriptors) pipes.push(openPipe(`/proc/${shell.pid}/fd/${descriptor}`));
    return pipes;
  } catch (error) {
    pipes.forEach(closePipe);
    throw error;
  } finally {
    shell.kill('SIGKILL');
  }
}

function openPipe(path: string): Pipe {
  const reader = openSync(path, constants.O_RDONLY);
  try {
    // An old shell makes a file of a here-string. What it wrote, a line end, is taken out again.
    if (!fstatSync(reader).isFIFO()) throw new Error('It is no pipe');
    readSync(reader, Buffer.alloc(1));
    return { reader, writer: openSync(path, constants.O_WRONLY) };
  } catch (error) {
    closeSync(reader);
    throw error;
  }
}
