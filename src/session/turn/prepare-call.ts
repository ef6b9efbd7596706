/** Prepares a block for the executor: connects its call with the session's context, questions and log. */
import type { AssistantMessage, ToolUseBlock } from '../../wire/blocks.ts';
import { type CallServices, execute } from '../../call/execute.ts';
import type { Permit } from '../../call/gate.ts';
import type { CallOutcome } from '../../call/outcome.ts';
import { parseBlock } from '../../call/parse.ts';
import { answersYes, type Invocation } from '../../tool/invocation.ts';
import type { MidCallQuestion } from '../../tool/mid-call-question.ts';
import type { ToolProgress } from '../../tool/tool.ts';
import type { RunnableCall, RunControl } from '../../schedule/scheduled-call.ts';
import type { Call } from './turn.ts';
import { updateAndRejudge } from '../questions/answer.ts';
import { askMidCall, askWhoMayAnswer } from '../questions/ask.ts';
import type { AcceptedBlock } from './acceptance.ts';
import { callProgress, type CallProgress } from './call-progress.ts';
import { ChildSessions } from './child-sessions.ts';
import { InnerCalls } from './inner-calls.ts';
import type { ToolPool } from '../../pool/tool-pool.ts';
import type { SessionCore } from '../session-core.ts';
import { toolUseContext } from './tool-use-context.ts';

/** Longest command or summary in the label of a failed call, in characters. */
const LABEL_CHARS = 120;

/** Prepare a block; one that fails to parse becomes a call that ends at once. */
export function prepareCall(core: SessionCore, call: Call, { block, message, pool }: AcceptedBlock): RunnableCall {
  const parsed = parseBlock(block, {
    pool,
    isInner: call.parentId !== undefined,
    schemaTool: core.services.schemaTool,
  });
  if (parsed.kind === 'end') return endedCall(block, parsed.outcome);
  const { invocation } = parsed;
  return {
    toolUseId: block.id,
    label: labelOf(invocation),
    isConcurrencySafe: () => invocation.isConcurrencySafe,
    abortsSiblings: () => abortsSiblings(core, invocation),
    interruptBehavior: () => invocation.interruptBehavior,
    run: (steps) => run(core, call, invocation, message, steps),
  };
}

function endedCall(block: ToolUseBlock, outcome: CallOutcome): RunnableCall {
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
  call: Call,
  invocation: Invocation,
  parentMessage: AssistantMessage,
  steps: RunControl,
): Promise<CallOutcome> {
  let endsTurn: string | undefined;
  const abortTurn = (reason: string) => void (endsTurn = reason);
  const ids = { turnId: call.turn.id, toolUseId: call.toolUseId, parentToolUseId: call.parentId };
  const { pool } = core;
  let isOver = false;
  const parts = {
    ...{ ids, signal: steps.signal, abortTurn, isOver: () => isOver, trace: call.trace },
    ask: (question: MidCallQuestion, withdrawn?: AbortSignal) => {
      const signal = withdrawn ? AbortSignal.any([steps.signal, withdrawn]) : steps.signal;
      return askMidCall(core, call, { toolName: invocation.tool.name, question }, signal);
    },
  };
  const context = toolUseContext(core, pool, parts);
  const heard = new Set<string>();
  const progress = callProgress(core, call, invocation.tool);
  const outer = {
    ...{ call, steps, heard, abortTurn, prepare: prepareCall, isOver: parts.isOver },
    onProgress: (piece: ToolProgress) => progress.tell(piece),
  };
  // Created on demand: most calls need neither.
  let inner: InnerCalls | undefined;
  let children: ChildSessions | undefined;
  const isSafe = invocation.isConcurrencySafe;
  try {
    const services = {
      ...callServices(core, call, { pool, progress, isSafe, ...steps }),
      runInner: (block, options) => (inner ??= new InnerCalls(core, outer)).run(block, options),
      openChild: (options) => (children ??= new ChildSessions(core, outer)).open(options),
      heard,
    } satisfies CallServices;
    const outcome = await execute(invocation, context, parentMessage, services);
    return endsTurn === undefined ? outcome : { ...outcome, endsTurn };
  } finally {
    // Their frames are in the log before the call's result.
    isOver = true;
    if (inner || children) await Promise.all([inner?.end(), children?.end()]);
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
    // A label is only for display, so the name is sufficient.
    return tool.name;
  }
}

/** Build the services of a call. */
function callServices(
  core: SessionCore,
  call: Call,
  steps: RunControl & { readonly pool: ToolPool; readonly isSafe: boolean; readonly progress: CallProgress },
): Omit<CallServices, 'runInner' | 'openChild' | 'heard'> {
  const { services } = core;
  return {
    pool: steps.pool,
    schemaTool: services.schemaTool,
    locate: services.locate,
    hooks: services.hooks,
    twoPerson: services.twoPerson,
    classifier: services.classifier,
    limits: services.limits,
    updatePermissions: (updates) => updateAndRejudge(core, updates),
    ask: (question, signal) => askWhoMayAnswer(core, call, question, signal),
    admitted: async (permit) => {
      await admit(core, call, permit, steps);
      steps.progress.begin();
    },
    tryModifier: (modifier) => void core.contextAfter(modifier),
    onProgress: (piece) => steps.progress.tell(piece),
  };
}

/**
 * Handle a passed gate. Side effects wait until the start of the call is in the log, which then shows what was running
 * at a crash; calls that only read need not wait.
 */
async function admit(
  core: SessionCore,
  call: Call,
  { invocation, isInputChanged }: Permit,
  steps: RunControl & { readonly isSafe: boolean },
): Promise<void> {
  core.questions.withdrawQuestion(call.toolUseId, { behavior: 'allow', by: 'rule' }, 'It need not be asked any more');
  if (steps.isSafe && isInputChanged && !invocation.isConcurrencySafe) await steps.becomeAlone();
  steps.signal.throwIfAborted();
  const { toolUseId: tool_use_id, parentId: parent_tool_use_id, trace } = call;
  const started = { type: 'started', tool_use_id, parent_tool_use_id } as const;
  if (invocation.hasEffects) await core.log.emit(started);
  else core.log.tell(started);
  trace?.admitted();
}
