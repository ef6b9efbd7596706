/**
 * A block of this session as the executor runs it: `src/call/` with the session's own context,
 * questions, log and budget around it.
 */
import type { AssistantMessage, ToolUseBlock } from '../../contract/blocks.ts';
import { runCall } from '../../call/call.ts';
import { type CallOutcome } from '../../call/outcome.ts';
import { parseCall, type ParsedCall } from '../../call/parse.ts';
import { answersYes } from '../../schedule/partition.ts';
import type { Journey, JourneySteps } from '../../schedule/scheduled-call.ts';
import type { CallRecord } from '../call-record.ts';
import { callServices } from './call-services.ts';
import type { SessionCore } from '../session-core.ts';
import { toolUseContext } from './tool-use-context.ts';

/** Longest command or summary in the text that names a failed call. */
const LABEL_CHARS = 120;

/** Prepare a block: what fails to parse is a journey too, one that ends at once. */
export function prepareJourney(
  core: SessionCore,
  record: CallRecord,
  block: ToolUseBlock,
  parentMessage: AssistantMessage,
): Journey {
  const parsed = parseCall(block, { pool: core.pool, schemaTool: core.services.schemaTool });
  if ('status' in parsed) return failedJourney(block, parsed);
  const { tool, input } = parsed;
  const isSafe = answersYes(() => tool.isConcurrencySafe(input));
  return {
    toolUseId: block.id,
    label: labelOf(parsed),
    isConcurrencySafe: () => isSafe,
    abortsSiblings: () => abortsSiblings(core, parsed),
    interruptBehavior: () => tool.interruptBehavior?.(input) ?? 'block',
    run: (steps) => travel(core, record, parsed, parentMessage, { isSafe, ...steps }),
  };
}

function failedJourney(block: ToolUseBlock, outcome: CallOutcome): Journey {
  return {
    toolUseId: block.id,
    label: block.name,
    isConcurrencySafe: () => false,
    abortsSiblings: () => false,
    interruptBehavior: () => 'cancel',
    run: () => Promise.resolve(outcome),
  };
}

async function travel(
  core: SessionCore,
  record: CallRecord,
  call: ParsedCall,
  parentMessage: AssistantMessage,
  steps: JourneySteps & { readonly isSafe: boolean },
): Promise<CallOutcome> {
  let endsTurn: string | undefined;
  const ids = { turnId: record.turn.id, toolUseId: record.toolUseId };
  const context = toolUseContext(core, ids, steps.signal, (reason) => (endsTurn = reason));
  const outcome = await runCall(
    call,
    context,
    parentMessage,
    callServices(core, record, { tool: call.tool, ...steps }),
  );
  return endsTurn === undefined ? outcome : { ...outcome, endsTurn };
}

function abortsSiblings(core: SessionCore, { tool, input }: ParsedCall): boolean {
  if (tool.abortsSiblings !== true) return false;
  switch (core.services.siblingAbort) {
    case 'never':
      return false;
    case 'mutating-bash':
      return !answersYes(() => tool.isReadOnly(input));
    case 'bash':
      return true;
  }
}

function labelOf({ tool, input }: ParsedCall): string {
  try {
    const text = tool.toAutoClassifierInput(input) || tool.getToolUseSummary?.(input) || '';
    return text === '' ? tool.name : `${tool.name}(${text.slice(0, LABEL_CHARS)})`;
  } catch {
    // A label is only words; the name alone will do.
    return tool.name;
  }
}
