/** Dependencies of the tools of this domain. */
import type { LocatePath } from '../../src/tool/located-path.ts';

/** Services of SendUserMessage. */
export interface PlanningToolServices {
  readonly locate: LocatePath;
}
