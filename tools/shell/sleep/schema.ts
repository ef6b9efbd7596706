/** What Sleep takes. */
import { z } from 'zod';
import type { Limits } from '../../../config/limits.ts';

/** Input of Sleep. */
export function sleepInput({ sleepMs }: Pick<Limits, 'sleepMs'>) {
  return z.strictObject({
    duration_ms: z.int().min(0).max(sleepMs).describe(`How long to wait, in milliseconds; at most ${sleepMs}`),
  });
}
