/** Tools that wait until a test lets them go, or until they are cancelled. */
import { plainTool } from './plain-tool.ts';
import type { Tool } from '../../src/tool/tool.ts';

/** A tool called `Wait`, which waits, and what lets all its calls go. */
export function waitingTool(changes: Parameters<typeof plainTool>[1] = {}): { tool: Tool; release: () => void } {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const tool = plainTool('Wait', {
    touchesOnlySession: () => true,
    isConcurrencySafe: () => true,
    call: (_input, { signal }) =>
      Promise.race([
        released.then(() => ({ data: 'released' })),
        new Promise<never>((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason as Error)),
        ),
      ]),
    ...changes,
  });
  return { tool, release };
}
