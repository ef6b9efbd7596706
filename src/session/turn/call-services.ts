/**
 * What one call's journey is handed by its session: its questions, its progress, its beginning on disk.
 */
import type { CallServices } from '../../call/execute.ts';
import type { Permit } from '../../call/gate.ts';
import type { JourneySteps } from '../../schedule/scheduled-call.ts';
import { updateAndRejudge } from '../questions/answer.ts';
import { askWhoMayAnswer } from '../questions/ask.ts';
import type { CallRecord } from '../call-record.ts';
import type { SessionCore } from '../session-core.ts';
import type { CallProgress } from './call-progress.ts';

/** Put together what a call needs. */
export function callServices(
  core: SessionCore,
  record: CallRecord,
  steps: JourneySteps & { readonly isSafe: boolean; readonly progress: CallProgress },
): CallServices {
  const { services } = core;
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
    admitted: async (permit) => {
      await admit(core, record, permit, steps);
      steps.progress.begin();
    },
    tryModifier: (modifier) => void core.contextAfter(modifier),
    onProgress: (piece) => steps.progress.tell(piece),
  };
}

/**
 * The gate is passed. Side effects wait until the log has the beginning of the call, so that a crash
 * can say what was running; what only reads need not wait.
 */
async function admit(
  core: SessionCore,
  record: CallRecord,
  { invocation, isInputChanged }: Permit,
  steps: JourneySteps & { readonly isSafe: boolean },
): Promise<void> {
  core.questions.withdrawStanding(record.toolUseId, { behavior: 'allow', by: 'rule' }, 'It need not be asked any more');
  if (steps.isSafe && isInputChanged && !invocation.isConcurrencySafe) await steps.becomeAlone();
  steps.signal.throwIfAborted();
  const started = { type: 'started', tool_use_id: record.toolUseId } as const;
  if (invocation.hasEffects) await core.log.emit(started);
  else core.log.tell(started);
}
