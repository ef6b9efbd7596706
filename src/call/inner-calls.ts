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
 * What is allowed carries the input that was judged as `updatedInput`, parsed: that one is to be run.
 */
export function answerForInnerCalls(services: GateServices): CanUseTool {
  return async (tool, raw, context) => {
    const parsed = parseInput(tool, raw, services);
    if ('errorCode' in parsed) return refusal(parsed);
    const block = { type: 'tool_use', id: context.toolUseId, name: tool.name, input: {} } as const;
    const permitted = await gate({ block, tool, input: parsed.input }, context, services);
    if ('status' in permitted) return refusal(permitted);
    return { ...permitted.decision, behavior: 'allow', updatedInput: permitted.input };
  };
}

function refusal({ content }: CallOutcome): Awaited<ReturnType<CanUseTool>> {
  return { behavior: 'deny', reason: { type: 'tool' }, message: resultText(content), suggestions: [], warnings: [] };
}
