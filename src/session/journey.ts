/**
 * A block of this session as the executor runs it: `src/call/` with the session's own context,
 * questions, log and budget around it.
 */
import type { AssistantMessage, ToolUseBlock } from '../contract/blocks.ts';
import type { Tool } from '../contract/tool.ts';
import { type CallServices, runCall } from '../call/call.ts';
import type { PermittedCall } from '../call/gate.ts';
import { type CallOutcome } from '../call/outcome.ts';
import { parseCall, type ParsedCall } from '../call/parse.ts';
import { isPlainData } from '../call/plain-data.ts';
import { answersYes } from '../schedule/partition.ts';
import type { Journey, JourneySteps } from '../schedule/scheduled-call.ts';
import { askWhoMayAnswer } from './ask.ts';
import type { CallRecord } from './call-ledger.ts';
import { drawProgress } from './drawn.ts';
import type { SessionCore } from './session-core.ts';
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
  const pool = core.services.poolFor(core.context);
  const parsed = parseCall(block, { pool, schemaTool: core.services.schemaTool });
  if ('status' in parsed) return failedJourney(block, parsed);
  const { tool, input } = parsed;
  const isSafe = answersYes(() => tool.isConcurrencySafe(input));
  return {
    toolUseId: block.id,
    label: labelOf(parsed),
    isConcurrencySafe: () => isSafe,
    abortsSiblings: () => abortsSiblings(core, parsed),
    interruptBehavior: () => tool.interruptBehavior?.(input) ?? 'block',
    run: (steps) => travel(core, record, parsed, parentMessage, { ...steps, isSafe }),
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
    callServices(core, record, { ...steps, tool: call.tool }),
  );
  return endsTurn === undefined ? outcome : { ...outcome, endsTurn };
}

function callServices(
  core: SessionCore,
  record: CallRecord,
  steps: JourneySteps & { readonly isSafe: boolean; readonly tool: Tool },
): CallServices {
  const { services } = core;
  let progressCount = 0;
  return {
    pool: services.poolFor(core.context),
    schemaTool: services.schemaTool,
    locate: services.locate,
    hooks: services.hooks,
    limits: services.limits,
    ask: (question, signal) => askWhoMayAnswer(core, record, question, signal),
    admitted: (call) => admit(core, record, call, steps),
    onProgress: ({ data }) => {
      if (record.scheduled?.state !== 'executing' || !isPlainData(data)) return;
      const drawn = drawProgress(steps.tool, { data });
      const display = isPlainData(drawn) ? drawn : undefined;
      core.log.tell({ type: 'progress', tool_use_id: record.toolUseId, n: ++progressCount, data, display });
    },
  };
}

/**
 * The gate is passed. Side effects wait until the log has the beginning of the call, so that a crash
 * can say what was running; what only reads need not wait.
 */
async function admit(
  core: SessionCore,
  record: CallRecord,
  call: PermittedCall,
  steps: JourneySteps & { readonly isSafe: boolean },
): Promise<void> {
  const { tool, input } = call;
  core.questions.withdrawStanding(record.toolUseId, { behavior: 'allow', by: 'rule' }, 'It need not be asked any more');
  const isStillSafe = !call.isInputChanged || answersYes(() => tool.isConcurrencySafe(input));
  if (steps.isSafe && !isStillSafe) await steps.becomeAlone();
  steps.signal.throwIfAborted();
  const hasEffects = !tool.touchesOnlySession && !answersYes(() => tool.isReadOnly(input));
  const started = { type: 'started', tool_use_id: record.toolUseId } as const;
  if (hasEffects) await core.log.emit(started);
  else core.log.tell(started);
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
