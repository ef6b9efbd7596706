/** The agent tools: agents, their messages and their teams. */
import { AgentTeams } from '../../src/agents/teams.ts';
import { agentTool } from './agent/index.ts';
import { sendMessageTool } from './send-message.ts';
import type { AgentToolServices } from './services.ts';
import { teamCreateTool } from './team-create.ts';
import { teamDeleteTool } from './team-delete.ts';

/** All agent tools, in no particular order: the pool sorts. */
export function agentTools(services: AgentToolServices) {
  const teams = new AgentTeams(services.store, services.limits);
  const own = { ...services, teams };
  return [agentTool(own), sendMessageTool(own), teamCreateTool(own), teamDeleteTool(own)];
}
