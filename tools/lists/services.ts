/** What the tools of this domain are handed. */
import type { Limits } from '../../config/limits.ts';

/** What they are handed. */
export interface ListToolServices {
  readonly limits: Limits;
}
