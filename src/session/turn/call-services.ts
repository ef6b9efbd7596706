/**
 * What one call's journey is handed by its session: its questions, its progress, its beginning on disk.
 */
import type { CallServices } from '../../call/call.ts';
import type { PermittedCall } from '../../call/gate.ts';
import { isPlainData } from '../../call/plain-data.ts';
import type { Tool } from '../../contract/tool.ts';
import { answersYes } from '../../schedule/partition.ts';
import type { JourneySteps } from '../../schedule/scheduled-call.ts';
import { updateAndRejudge } from '../questions/answer.ts';
import { askWhoMayAnswer } from '../questions/ask.ts';
import type { CallRecord } from '../call-record.ts';
import { drawProgress } from './drawn.ts';
import type { SessionCore } from '../session-core.ts';

/** Put together what a call needs. */
export function callServices(
  core: SessionCore,
  record: CallRecord,
  steps: JourneySteps & { readonly isSafe: boolean; readonly tool: Tool },
): CallServices {
  const { services } = core;
  let progressCount = 0;
  return {
    pool: core.pool,
    schemaTool: services.schemaTool,
    locate: services.locate,
    hooks: services.hooks,
    twoPerson: services.twoPerson,
    classifier: services.classifier,
    limits: services.limits,
    updatePermissions: (updates) => updateAndRejudge(core, updates),
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
