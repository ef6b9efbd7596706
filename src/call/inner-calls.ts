/**
 * `canUseTool`: a tool that makes calls of its own asks the same gate its own call went through.
 */
import { resultText } from '../contract/blocks.ts';
import type { CanUseTool } from '../contract/tool.ts';
import { gate, type GateServices } from './gate.ts';
import { type CallOutcome } from './outcome.ts';
import { parseInput } from './parse.ts';

/**
 * Answer for inner calls as the session would: their schema, the rules, then a person.
 *
 * What is allowed carries the input that was judged as `updatedInput`, parsed: that one is to be run. A hook that ends
 * the turn ends that of the outer call.
 *
 * @param heard Gets what hooks add for the model, each once: the outer call passes it on.
 */
export function answerForInnerCalls(services: GateServices, heard: Set<string>): CanUseTool {
  return async (tool, raw, context) => {
    const block = { type: 'tool_use', id: context.toolUseId, name: tool.name, input: {} } as const;
    const parsed = parseInput(block, tool, raw, services);
    if (parsed.kind === 'end') return refusal(parsed.outcome);
    const passed = await gate(parsed.invocation, context, services);
    if (passed.kind === 'end') {
      const { newMessages, endsTurn } = passed.outcome;
      for (const { content } of newMessages ?? []) heard.add(resultText(content));
      if (endsTurn !== undefined) context.abortTurn(endsTurn);
      return refusal(passed.outcome);
    }
    for (const text of passed.hookContexts ?? []) heard.add(text);
    return { ...passed.decision, behavior: 'allow', updatedInput: passed.invocation.input };
  };
}

function refusal({ content, decided, errorCode }: CallOutcome): Awaited<ReturnType<CanUseTool>> {
  const reason = decided?.reason ?? { type: errorCode === 'hook_blocked' ? 'hook' : 'tool' };
  return { behavior: 'deny', reason, message: resultText(content), suggestions: [], warnings: [] };
}
