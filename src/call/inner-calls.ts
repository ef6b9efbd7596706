/**
 * Calls that a tool makes of its own: `canUseTool` asks the same gate its own call went through, and hooks that wait for
 * results see theirs.
 */
import { isDeepStrictEqual } from 'node:util';
import { resultText } from '../contract/blocks.ts';
import type { CanUseTool, Tool } from '../contract/tool.ts';
import { afterInnerCall } from './after-call.ts';
import { gate, type GateServices, type Permit } from './gate.ts';
import type { CallOutcome } from './outcome.ts';
import { parseInput } from './parse.ts';
import { mapResult, type ResultLimits } from './result.ts';
import { runTool } from './run.ts';

/** Calls that were allowed and have not begun: a tool that asks and never runs them is not waited for. */
const MAX_PERMITS = 100;

/** What a tool is handed to make calls of its own. */
export interface InnerCalls {
  readonly canUseTool: CanUseTool;
  /** Made when it is asked for: most calls make none of their own, and a list may hold thousands. */
  readonly tools: readonly Tool[];
}

/**
 * Let a tool make calls of its own.
 *
 * What is allowed carries the input that was judged as `updatedInput`, parsed: that one is to be run, with the `call` of
 * the tool from `tools`. A hook that ends the turn ends that of the outer call.
 *
 * @param tools Those that the session sees.
 * @param heard Gets what hooks add for the model, each once: the outer call passes it on.
 */
export function innerCalls(
  tools: readonly Tool[],
  services: GateServices & { readonly limits: ResultLimits },
  heard: Set<string>,
): InnerCalls {
  const permits: Permit[] = [];
  let wrapped: readonly Tool[] | undefined;

  const canUseTool: CanUseTool = async (tool, raw, context) => {
    const block = { type: 'tool_use', id: context.toolUseId, name: tool.name, input: {} } as const;
    const parsed = parseInput(block, tool, raw, services);
    if (parsed.kind === 'end') return refusal(parsed.outcome);
    // What the outer call's own gate judged holds for its own input alone.
    const own = { ...context, located: undefined, isHeld: undefined, analysis: undefined };
    const passed = await gate(parsed.invocation, own, services);
    if (passed.kind === 'end') {
      const { newMessages, endsTurn } = passed.outcome;
      for (const { content } of newMessages ?? []) heard.add(resultText(content));
      if (endsTurn !== undefined) context.abortTurn(endsTurn);
      return refusal(passed.outcome);
    }
    for (const text of passed.hookContexts ?? []) heard.add(text);
    if (permits.push(passed) > MAX_PERMITS) permits.shift();
    return { ...passed.decision, behavior: 'allow', updatedInput: passed.invocation.input };
  };

  /** Wraps a tool so that a call of it that was allowed runs as its gate judged it, and PostToolUse hooks see its result. */
  function wrap(tool: Tool): Tool {
    const wrapper: Tool = Object.freeze({
      ...tool,
      call: async (...given: Parameters<Tool['call']>) => {
        const [input, context, askGate, parentMessage, onProgress] = given;
        const place = permits.findIndex(
          ({ invocation }) => invocation.tool === wrapper && isDeepStrictEqual(invocation.input, input),
        );
        const [permit] = place === -1 ? [] : permits.splice(place, 1);
        // Nobody allowed it: what a tool does beyond its calls is part of its own.
        if (!permit) return tool.call(...given);
        const { invocation, located, decision } = permit;
        const own = { ...context, located, isHeld: decision.containment === 'jail', analysis: invocation.analysis };
        const run = await runTool({ ...permit, invocation: invocation.withTool(tool) }, own, {
          canUseTool: askGate,
          parentMessage,
          onProgress: (progress) => onProgress?.(progress),
        });
        const outcome = mapResult(invocation, run, [], services.limits);
        return afterInnerCall(invocation, run, outcome, own, { ...services, heard });
      },
    });
    return wrapper;
  }

  return {
    canUseTool,
    get tools() {
      return (wrapped ??= tools.map(wrap));
    },
  };
}

function refusal({ content, decided, errorCode }: CallOutcome): Awaited<ReturnType<CanUseTool>> {
  const reason = decided?.reason ?? { type: errorCode === 'hook_blocked' ? 'hook' : 'tool' };
  return { behavior: 'deny', reason, message: resultText(content), suggestions: [], warnings: [] };
}
