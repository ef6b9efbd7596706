/** Dependencies of these tools. */
import type { Limits } from '../../config/limits.ts';
import type { ToolSearchSetting } from '../../src/pool/deferral.ts';

/** Services of ToolSearch and StructuredOutput. */
export interface MoreToolServices {
  readonly toolSearch: ToolSearchSetting;
  readonly limits: Limits;
}
