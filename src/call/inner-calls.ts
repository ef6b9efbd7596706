/**
 * `canUseTool`: a tool that makes calls of its own asks the same gate its own call went through.
 */
import type { CanUseTool } from '../contract/tool.ts';
import { decide, type GateServices } from './gate.ts';

/** Answer for inner calls as the session would: rules first, then a person. */
export function answerForInnerCalls(services: GateServices): CanUseTool {
  return async (tool, input, context) => {
    const judgement = await decide({ tool, input }, context, services);
    const { decision } = judgement;
    if (decision.behavior !== 'ask') return { ...decision, behavior: decision.behavior };
    const answer = await services.ask(
      {
        tool,
        toolUseId: context.toolUseId,
        input,
        ...judgement,
        rejudge: async (session) => (await decide({ tool, input }, { ...context, session }, services)).decision,
      },
      context.signal,
    );
    if (answer.behavior === 'deny') return { ...decision, behavior: 'deny', message: answer.message };
    return { ...decision, behavior: 'allow', ...(answer.updatedInput ? { updatedInput: answer.updatedInput } : {}) };
  };
}
