/**
 * Saves a session, so that it can be loaded without its whole log: a snapshot of its state, and a fact for each settled
 * id.
 */
import { MAX_READ_RECORDS } from '../../files/read-state.ts';
import type { Seq } from '../../wire/frames.ts';
import type { FileReadRecord } from '../../tool/session-context.ts';
import { loggedContext } from '../context-frame.ts';
import { callFact, type Fact, turnFact } from './settled-call-index.ts';
import type { SavedState } from './replay-log.ts';
import type { SessionCore } from '../session-core.ts';
import type { Turn } from '../turn/turn.ts';

/** Key of the fact with the read state. */
const READS = 'reads';

/**
 * Save a session if it changed since the last save. It cannot be saved while frames are being written; the next save
 * includes them.
 *
 * @throws {GauntletError} `log_unavailable`; everything then stays in memory.
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
  // A log that was never saved has a fact for everything it ever held: write in parts, so that others can write in
  // between.
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
 * Save only the read state, if it changed: a busy session is saved rarely, because each new id is looked up in the
 * facts from then on. Skipped while frames are being written, since clients have not seen what they show.
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

/** Read the saved read state. */
export function savedReads(log: SessionCore['services']['log'], sessionId: string): readonly FileReadRecord[] {
  return (log.fact(sessionId, READS) ?? []) as readonly FileReadRecord[];
}

/** Build the facts of ended turns and their calls. */
function factsOf(turns: readonly Turn[]): readonly Fact[] {
  return turns.flatMap(({ id, calls, inner, endSeq = 0 }) => [
    turnFact(id, endSeq),
    ...[...calls, ...inner].map((call) => {
      const { toolUseId, index, name, acceptedSeq = 0, resultSeq = 0, parentId, wasInterrupted } = call;
      return callFact(toolUseId, { turnId: id, index, name, acceptedSeq, resultSeq, wasInterrupted, parentId });
    }),
  ]);
}

/** Highest `seq` that the snapshot may include: all frames of turns without an end on disk come after it. */
function coveredSeq({ ledger, log }: SessionCore): Seq {
  const firsts = ledger.unended.flatMap(({ calls }) => calls.map(({ acceptedSeq = log.head + 1 }) => acceptedSeq));
  return firsts.reduce((least, seq) => Math.min(least, seq - 1), log.head);
}

function readsFact({ context, savedReads }: SessionCore): readonly Fact[] {
  if (context.readState === savedReads) return [];
  return [[READS, context.readState.recent(MAX_READ_RECORDS)]];
}

/** Build the state. An unchanged context is left out, so that it follows the current settings. */
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
