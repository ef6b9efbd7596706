/** Sleep waits, and no longer than it is wanted. */
import { describe, expect, it } from 'vitest';
import { sleepTool } from '../../../tools/shell/sleep.ts';
import { toolUseContextIn } from '../../helpers/tool-use-context.ts';

describe('Sleep', () => {
  const sleep = sleepTool();

  it('waits as long as it was told', async () => {
    const started = performance.now();
    const result = await sleep.call({ duration_ms: 30 }, toolUseContextIn('/'));
    expect(result.data).toEqual({ sleptMs: 30 });
    expect(performance.now() - started).toBeGreaterThanOrEqual(29);
  });

  it('ends at once when it is cancelled', async () => {
    const controller = new AbortController();
    const context = toolUseContextIn('/', { signal: controller.signal });
    const ended = sleep.call({ duration_ms: 60_000 }, context);
    controller.abort();
    await expect(ended).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('refuses a time below nothing or beyond all bounds', () => {
    for (const duration_ms of [-1, 0.5, 3_600_001]) {
      expect(sleep.inputSchema.safeParse({ duration_ms }).success).toBe(false);
    }
  });
});
