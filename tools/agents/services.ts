/** Dependencies of the agent tools. */
import type { Limits } from '../../config/limits.ts';
import type { ModelSettings } from '../../config/settings/models.ts';
import type { AgentType } from '../../src/agents/agent-types.ts';
import type { Preamble } from '../../src/mcp/preamble.ts';
import type { WorktreeServices } from '../../src/process/git-worktree.ts';
import type { Schedules } from '../../src/tasks/schedules.ts';
import type { OpenSharedStore } from '../../src/log/shared-store.ts';

/** Services of Agent, SendMessage, TeamCreate and TeamDelete. */
export interface AgentToolServices extends WorktreeServices {
  readonly limits: Limits;
  /** Models that agents may use, by name. Without any, no agent can work. */
  readonly models: ReadonlyMap<string, ModelSettings>;
  /** Types from files of the operator. */
  readonly agentTypes: readonly AgentType[];
  /** Bounds what an agent may do that a schedule starts. */
  readonly schedules: Pick<Schedules, 'boundOf'>;
  /** Words of MCP servers about their tools. Absent: none. */
  readonly preamble?: Preamble;
  /** Keeps teams and mail. */
  readonly store: OpenSharedStore;
}
