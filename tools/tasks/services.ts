/** What the task tools are handed by whoever wires the server. */
import type { Limits } from '../../config/limits.ts';

/** Services of TaskOutput. */
export interface TaskToolServices {
  readonly limits: Limits;
}
