/**
 * `canUseTool`: a tool asks the gate that its own call went through about another call, and nothing is run.
 */
import { resultText } from '../wire/blocks.ts';
import type { CanUseTool } from '../tool/tool.ts';
import { gate, type GateServices } from './gate.ts';
import type { CallOutcome } from './outcome.ts';
import { parseInput } from './parse.ts';

/**
 * Make the function that a tool is handed. A hook that ends the turn ends that of the call that asks.
 *
 * @param heard Gets what hooks add for the model, each once: the call that asks passes it on.
 */
export function createCanUseTool(services: GateServices, heard: Set<string>): CanUseTool {
  return async (tool, raw, context) => {
    const block = { type: 'tool_use', id: context.toolUseId, name: tool.name, input: {} } as const;
    const parsed = parseInput(block, tool, raw, services);
    if (parsed.kind === 'end') return refusal(parsed.outcome);
    // What the gate of the outer call judged holds for its own input alone.
    const own = { ...context, located: undefined, isHeld: undefined, analysis: undefined };
    const passed = await gate(parsed.invocation, own, services);
    if (passed.kind === 'end') {
      const { hookContexts = [], endsTurn } = passed.outcome;
      for (const text of hookContexts) heard.add(text);
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
