/** What the tools of this domain are handed. */
import type { LocatePath } from '../../src/tool/located-path.ts';

/** Services of SendUserMessage. */
export interface PlanningToolServices {
  readonly locate: LocatePath;
}
