/** Dependencies of these tools. */
import type { Limits } from '../../config/limits.ts';
import type { ToolSearchSetting } from '../../src/pool/deferral.ts';
import type { PromptServers } from './mcp-skills.ts';
import type { Skill } from './skill-catalogue.ts';

/** Services of ToolSearch and StructuredOutput. */
export interface MoreToolServices {
  readonly toolSearch: ToolSearchSetting;
  readonly limits: Limits;
  /** Absent: none. */
  readonly skills?: readonly Skill[];
  /** Servers whose prompts are skills. Absent: none. */
  readonly mcp?: PromptServers;
}
