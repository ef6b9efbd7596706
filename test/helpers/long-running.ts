/** Programs that run until the test ends them. */
import { type ChildProcess, spawn } from 'node:child_process';

/** What started, and what it had printed when it was ready. */
export interface LongRunning {
  readonly child: ChildProcess;
  /** Everything on standard output up to the lines that matched. */
  readonly printed: string;
  /** Standard error up to now. */
  complained(): string;
  /** Resolves when it has ended. */
  readonly exited: Promise<unknown>;
  /** End it, and wait until it has ended. */
  stop(): Promise<void>;
}

/** Where a program runs, and with which environment: that one alone. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
}

/** Start a program and wait until its output matches `ready`; whoever starts it stops it. */
export async function longRunning(
  [program, ...words]: readonly [string, ...string[]],
  ready: RegExp,
  surroundings: Surroundings,
): Promise<LongRunning> {
  const child = spawn(program, words, { ...surroundings, stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  let complaints = '';
  child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
      if (ready.test(printed)) resolve();
    });
    child.once('error', reject);
    void exited.then((code) => reject(new Error(`${program} ended with ${code} before it was ready: ${complaints}`)));
  });
  const stop = async () => {
    child.kill('SIGTERM');
    await exited;
  };
  return { child, printed, complained: () => complaints, exited, stop };
}
