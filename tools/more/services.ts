/** What the tools of this domain are handed. */
import type { Limits } from '../../config/limits.ts';
import type { ToolSearchSetting } from '../../src/pool/deferral.ts';

/** What they are handed. */
export interface MoreToolServices {
  readonly toolSearch: ToolSearchSetting;
  readonly limits: Limits;
}
