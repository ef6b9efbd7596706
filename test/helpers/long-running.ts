/** Programs that run until the test ends them. */
import { type ChildProcess, spawn } from 'node:child_process';

/** What started, and what it had printed when it was ready. */
export interface LongRunning {
  readonly child: ChildProcess;
  /** Everything on standard output up to the line that matched. */
  readonly printed: string;
  /** End it, and wait until it has ended. */
  stop(): Promise<void>;
}

/** Start a program and wait for a line of its output; whoever starts it stops it. */
export async function longRunning(
  words: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  ready: RegExp,
): Promise<LongRunning> {
  const child = spawn(process.execPath, [...words], { env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = new Promise<never>((_, reject) => {
    child.once('exit', (code) => reject(new Error(`${words.join(' ')} ended with ${code} before it was ready`)));
  });
  exited.catch(() => undefined);
  let printed = '';
  const matched = new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
      if (ready.test(printed)) resolve();
    });
  });
  await Promise.race([matched, exited]);
  const stop = async () => {
    child.kill('SIGTERM');
    await exited.catch(() => undefined);
  };
  return { child, printed, stop };
}
