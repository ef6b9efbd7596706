/** Dependencies of the task tools. */
import type { Limits } from '../../config/limits.ts';

/** Services of TaskOutput. */
export interface TaskToolServices {
  readonly limits: Limits;
}
