/**
 * Put aside what a session knows, so that it can be woken without its whole log: a snapshot of how it
 * stands, and a fact for each id that is settled.
 */
import type { Seq } from '../../wire/frames.ts';
import type { FileReadRecord } from '../../tool/session-context.ts';
import { isInterrupted, type TurnRecord } from '../call-record.ts';
import { loggedContext } from '../context-frame.ts';
import { callFact, type Fact, turnFact } from './settled-call-index.ts';
import type { SavedState } from './replay-log.ts';
import type { SessionCore } from '../session-core.ts';

/** The fact that holds the read state. */
const READS = 'reads';

/**
 * Save a session, if it changed since it was saved. While frames are on their way it cannot be: their
 * landing is what must be saved, and the next save will.
 *
 * @throws {GauntletError} `log_unavailable`; everything stays in memory then.
 */
export async function saveSession(core: SessionCore): Promise<void> {
  const { ledger, settled, services, context, id } = core;
  const seq = coveredSeq(core);
  const turns = ledger.unsaved;
  const questions = settled.unsaved();
  const isSaved =
    core.savedAs?.seq === seq && core.savedAs.context === context && turns.length + questions.length === 0;
  if (isSaved || !core.isLogged) return;
  const facts: readonly Fact[] = [...factsOf(turns), ...questions, ...readsFact(core)];
  const snapshot = { seq, state: savedStateOf(core) };
  const before = { savedAs: core.savedAs, savedReads: core.savedReads };
  core.savedAs = { seq, context };
  core.savedReads = context.readState;
  // A log that was never saved has a fact for all it ever held: others write between the parts.
  const part = services.limits.keptRecords;
  const lastPart = Math.floor(facts.length / part) * part;
  try {
    for (let start = 0; start < lastPart; start += part)
      await services.log.save(id, { facts: facts.slice(start, start + part) });
    await services.log.save(id, { snapshot, facts: facts.slice(lastPart) });
  } catch (error) {
    Object.assign(core, before);
    throw error;
  }
  core.settledCalls.grown();
  ledger.saved(turns);
  settled.saved(questions);
}

/**
 * Save which files a session has read, if that changed, and nothing else: a session that is busy is saved seldom, since
 * from then on each new id is looked up. Not while frames are on their way: what they show was not seen yet.
 *
 * @throws {GauntletError} `log_unavailable`
 */
export async function saveReads(core: SessionCore): Promise<void> {
  const facts = readsFact(core);
  if (facts.length === 0 || !core.isLogged) return;
  const before = core.savedReads;
  core.savedReads = core.context.readState;
  try {
    await core.services.log.save(core.id, { facts });
  } catch (error) {
    core.savedReads = before;
    throw error;
  }
}

/** The files a session had read when it was saved. */
export function savedReads(log: SessionCore['services']['log'], sessionId: string): readonly FileReadRecord[] {
  return (log.fact(sessionId, READS) ?? []) as readonly FileReadRecord[];
}

/** What is kept of turns that have ended, and of their calls. */
function factsOf(turns: readonly TurnRecord[]): readonly Fact[] {
  return turns.flatMap(({ id, calls, inner, endSeq = 0 }) => [
    turnFact(id, endSeq),
    ...[...calls, ...inner].map((call) => {
      const { toolUseId, index, name, acceptedSeq = 0, resultSeq = 0, parentId } = call;
      const wasInterrupted = isInterrupted(call);
      return callFact(toolUseId, { turnId: id, index, name, acceptedSeq, resultSeq, wasInterrupted, parentId });
    }),
  ]);
}

/** Nothing up to there is needed to go on: turns whose end is not on disk lie wholly behind it. */
function coveredSeq({ ledger, log }: SessionCore): Seq {
  const firsts = ledger.unended.flatMap(({ calls }) => calls.map(({ acceptedSeq = log.head + 1 }) => acceptedSeq));
  return firsts.reduce((least, seq) => Math.min(least, seq - 1), log.head);
}

function readsFact({ context, savedReads, services }: SessionCore): readonly Fact[] {
  if (context.readState === savedReads) return [];
  return [[READS, context.readState.recent(services.limits.readRecords)]];
}

/** A context that never changed is not kept: it is the settings' of the day. */
function savedStateOf({ opened, context, tasks: { list: tasks } }: SessionCore): SavedState {
  const { permissions, cwd, root, toolMode, toolState } = context;
  const hasMoved = cwd !== opened.cwd || root !== opened.cwd || toolMode !== opened.tool_mode;
  const hasChanged = permissions.version > 1 || hasMoved || context.worktree || Object.keys(toolState).length > 0;
  return {
    opened,
    ...(hasChanged && { context: loggedContext(opened, context), toolState }),
    ...(tasks.length > 0 && { tasks }),
  };
}
