/** Agent: gives a task to a model of its own, in a session of its own. */
import { needsModel } from '../../../src/agents/model.ts';
import type { AgentType } from '../../../src/agents/agent-types.ts';
import { errorMessage } from '../../../src/base/errors.ts';
import { mailText } from '../../../src/agents/teams.ts';
import { TOOL_ALIASES } from '../../../src/permissions/rule-names.ts';
import { buildTool } from '../../../src/tool/build-tool.ts';
import type {
  PermissionMatcher,
  ToolProgress,
  ToolResult,
  ToolUseContext,
  ValidationResult,
} from '../../../src/tool/tool.ts';
import type { ToolResultBlock } from '../../../src/wire/blocks.ts';
import { type OwnServices, withHandedMail } from '../own-services.ts';
import { BUILT_IN_TYPES, GENERAL_TYPE } from './built-in-types.ts';
import { keptText } from './isolation.ts';
import { agentPrompt } from './prompt.ts';
import {
  type AgentProgress,
  renderAgent,
  renderAgentFailure,
  renderAgentProgress,
  renderAgentResult,
} from './render.ts';
import { type AgentOutput, modelNameOf, reportText, runInBackground, runInForeground, typeOf } from './run.ts';
import { type AgentArguments, agentInput } from './schema.ts';

/** Characters of a result that are drawn. */
const MAX_RESULT_CHARS = 8_000;

/** Make Agent. */
export function agentTool(services: OwnServices) {
  const { limits, models } = services;
  const types = allTypes(services.agentTypes);
  return buildTool({
    name: 'Agent',
    aliases: TOOL_ALIASES.Agent,
    searchHint: 'give a task to an agent that works by itself',
    alwaysLoad: true,
    ...needsModel(services),
    // What it does are calls of its own, each of which is judged; a worktree is made before the first of them.
    touchesOnlySession: ({ isolation }) => isolation === undefined,
    isConcurrencySafe: () => true,
    interruptBehavior: () => 'cancel',
    inputSchema: agentInput(types, [...models.keys()]),
    maxResultSizeChars: 100_000,
    prompt: agentPrompt,
    description: (input) => `Start an agent: ${input.description}`,
    validateInput: (input) => validate(services, types, input),
    preparePermissionMatcher: ({ subagent_type = GENERAL_TYPE }) => typeMatcher(subagent_type),
    suggestRules: ({ subagent_type = GENERAL_TYPE }) => [`Agent(${subagent_type})`],
    call: (input, context, _canUseTool, _parentMessage, onProgress) =>
      start(services, types, input, context, onProgress),
    mapToolResultToToolResultBlockParam: agentResult,
    getToolUseSummary: ({ description }) => description ?? '',
    getActivityDescription: ({ description }) => `Agent: ${description ?? ''}`,
    renderToolUseMessage: (input) => renderAgent(input, limits.previewChars),
    renderToolUseProgressMessage: renderAgentProgress,
    renderToolResultMessage: (output: AgentOutput, _progress, { style }) =>
      renderAgentResult(output, style, MAX_RESULT_CHARS),
    renderToolUseRejectedMessage: (_input, message) => renderAgentFailure('Agent not started', message),
    renderToolUseErrorMessage: (message) => renderAgentFailure('Agent failed', message),
    renderGroupedToolUse: (inputs) => ({ key: 'agent', title: `${inputs.length} agents` }),
  });
}

/** Types of the operator take the place of built-in ones. */
function allTypes(own: readonly AgentType[]): readonly AgentType[] {
  return [...new Map([...BUILT_IN_TYPES, ...own].map((type) => [type.name, type])).values()];
}

/** Its type and model. @throws {GauntletError} `invalid_input` */
function resolve(services: OwnServices, types: readonly AgentType[], { subagent_type, model }: AgentArguments) {
  const type = typeOf(types, subagent_type ?? GENERAL_TYPE);
  return { type, modelName: modelNameOf(services, model ?? (type.model === 'inherit' ? undefined : type.model)) };
}

function validate(services: OwnServices, types: readonly AgentType[], input: AgentArguments): ValidationResult {
  try {
    resolve(services, types, input);
    if (input.isolation === undefined || services.hasGit) return { result: true };
    return { result: false, message: 'Cannot isolate an agent: this server has no git. Leave out "isolation"' };
  } catch (error) {
    return { result: false, message: errorMessage(error) };
  }
}

async function start(
  services: OwnServices,
  types: readonly AgentType[],
  input: AgentArguments,
  context: ToolUseContext,
  onProgress: ((progress: ToolProgress<AgentProgress>) => void) | undefined,
): Promise<ToolResult<AgentOutput>> {
  const plan = { services, input, context, ...resolve(services, types, input) };
  if (input.run_in_background === true) return { data: await runInBackground(plan) };
  const data = await runInForeground(plan, (session_id, text) =>
    onProgress?.({ data: { type: 'agent_text', session_id, text } }),
  );
  const last = data.kind === 'ended' ? data.mail.at(-1) : undefined;
  return { data, ...(last && { contextModifier: (session) => withHandedMail(session, last.version) }) };
}

/** A rule names a type. */
function typeMatcher(type: string): PermissionMatcher {
  return {
    hits: (specs) => specs.find((spec) => spec === type),
    covers: (specs) => (specs.includes(type) ? [type] : undefined),
  };
}

/** Text for the calling model. */
function agentResult(output: AgentOutput, toolUseId: string): ToolResultBlock {
  const block = { type: 'tool_result', tool_use_id: toolUseId } as const;
  if (output.kind === 'started') {
    const path = output.outputPath === undefined ? '' : `\noutput_file: ${output.outputPath}`;
    return { ...block, content: `The agent works in the background.\ntask_id: ${output.taskId}${path}` };
  }
  const { sessionId, turns, calls, tokens, ms, mail, worktree } = output;
  const facts = `(agent ${sessionId}: ${turns} turns, ${calls} calls, ${tokens} tokens, ${Math.round(ms / 1_000)} s)`;
  const report = { type: 'text', text: reportText(output) } as const;
  const more = mail.length === 0 ? [] : [{ type: 'text', text: mailText(mail) } as const];
  const kept = worktree ? [{ type: 'text', text: keptText(worktree) } as const] : [];
  return { ...block, content: [report, { type: 'text', text: facts }, ...kept, ...more] };
}
