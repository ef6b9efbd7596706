/**
 * A block of this session as the executor runs it: `src/call/` with the session's own context,
 * questions, log and budget around it.
 */
import type { AssistantMessage, ToolUseBlock } from '../../contract/blocks.ts';
import { execute } from '../../call/execute.ts';
import { type CallOutcome } from '../../call/outcome.ts';
import { parseBlock } from '../../call/parse.ts';
import type { Invocation } from '../../contract/invocation.ts';
import { answersYes } from '../../schedule/partition.ts';
import type { Journey, JourneySteps } from '../../schedule/scheduled-call.ts';
import type { CallRecord } from '../call-record.ts';
import { callProgress } from './call-progress.ts';
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
  const parsed = parseBlock(block, { pool: core.pool, schemaTool: core.services.schemaTool });
  if (parsed.kind === 'end') return failedJourney(block, parsed.outcome);
  const { invocation } = parsed;
  return {
    toolUseId: block.id,
    label: labelOf(invocation),
    isConcurrencySafe: () => invocation.isConcurrencySafe,
    abortsSiblings: () => abortsSiblings(core, invocation),
    interruptBehavior: () => invocation.interruptBehavior,
    run: (steps) => run(core, record, invocation, parentMessage, steps),
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

async function run(
  core: SessionCore,
  record: CallRecord,
  invocation: Invocation,
  parentMessage: AssistantMessage,
  steps: JourneySteps,
): Promise<CallOutcome> {
  let endsTurn: string | undefined;
  const ids = { turnId: record.turn.id, toolUseId: record.toolUseId };
  const context = toolUseContext(core, ids, steps.signal, (reason) => (endsTurn = reason));
  const progress = callProgress(core, record, invocation.tool);
  const isSafe = invocation.isConcurrencySafe;
  try {
    const services = callServices(core, record, { progress, isSafe, ...steps });
    const outcome = await execute(invocation, context, parentMessage, services);
    return endsTurn === undefined ? outcome : { ...outcome, endsTurn };
  } finally {
    progress.end();
  }
}

function abortsSiblings(core: SessionCore, invocation: Invocation): boolean {
  if (invocation.tool.abortsSiblings !== true) return false;
  switch (core.services.siblingAbort) {
    case 'never':
      return false;
    case 'mutating-bash':
      return !answersYes(() => invocation.isReadOnly);
    case 'bash':
      return true;
  }
}

function labelOf({ tool, input }: Invocation): string {
  try {
    const text = tool.toAutoClassifierInput(input) || tool.getToolUseSummary?.(input) || '';
    return text === '' ? tool.name : `${tool.name}(${text.slice(0, LABEL_CHARS)})`;
  } catch {
    // A label is only words; the name alone will do.
    return tool.name;
  }
}
