/** Somebody who swaps files and folders for links while others work. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished } from 'vitest';

/** Swap what stands at `place` for a link to `target` and back until the test ends. */
export async function swapping(place: string, target: string): Promise<void> {
  const script = new URL('../fixtures/swap-for-link.mjs', import.meta.url).pathname;
  const child: ChildProcess = spawn(process.execPath, [script, place, target], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  onTestFinished(async () => {
    expect(child.exitCode).toBeNull();
    child.kill();
    await exited;
  });
  if (child.stdout) await once(child.stdout, 'data');
}
