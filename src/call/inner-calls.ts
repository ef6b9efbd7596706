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
  const { hooks } = services;
  const isHeard = hooks?.has('PostToolUse') === true || hooks?.has('PostToolUseFailure') === true;
  const permits: Permit[] = [];
  let hooked: readonly Tool[] | undefined;

  const canUseTool: CanUseTool = async (tool, raw, context) => {
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
    if (isHeard) permits.push(passed);
    return { ...passed.decision, behavior: 'allow', updatedInput: passed.invocation.input };
  };

  /** A tool whose calls, once allowed, end before the hooks: the outer tool runs them itself. */
  function withHooks(tool: Tool): Tool {
    const shown: Tool = Object.freeze({
      ...tool,
      call: async (...given: Parameters<Tool['call']>) => {
        const [input, context, askGate, parentMessage, onProgress] = given;
        const place = permits.findIndex(
          ({ invocation }) => invocation.tool === shown && isDeepStrictEqual(invocation.input, input),
        );
        const [permit] = place === -1 ? [] : permits.splice(place, 1);
        // Nobody allowed it: what a tool does beyond its calls is part of its own.
        if (!permit) return tool.call(...given);
        const run = await runTool({ ...permit, invocation: permit.invocation.withTool(tool) }, context, {
          canUseTool: askGate,
          parentMessage,
          onProgress: (progress) => onProgress?.(progress),
        });
        const outcome = mapResult(permit.invocation, run, [], services.limits);
        return afterInnerCall(permit.invocation, run, outcome, context, { ...services, heard });
      },
    });
    return shown;
  }

  return {
    canUseTool,
    get tools() {
      return isHeard ? (hooked ??= tools.map(withHooks)) : tools;
    },
  };
}

function refusal({ content, decided, errorCode }: CallOutcome): Awaited<ReturnType<CanUseTool>> {
  const reason = decided?.reason ?? { type: errorCode === 'hook_blocked' ? 'hook' : 'tool' };
  return { behavior: 'deny', reason, message: resultText(content), suggestions: [], warnings: [] };
}
