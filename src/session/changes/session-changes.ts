/**
 * A session's changes, as its doors see them: listed, and taken back.
 */
import { type ChangePage, type ChangeQuery, listChanges } from './list-changes.ts';
import type { SessionCore } from '../session-core.ts';
import { undoChanges, type UndoReply, type UndoTarget } from './undo.ts';

/** What a session's tools changed in files. */
export interface SessionChanges {
  /** Oldest first. @throws {GauntletError} as `listChanges` */
  list(query: ChangeQuery): Promise<ChangePage>;
  /** Put files back as they were. @param by The principal that asks. @throws {GauntletError} as `undoChanges` */
  undo(target: UndoTarget, by: string): Promise<UndoReply>;
}

/** Those of one session. */
export function sessionChanges(core: SessionCore): SessionChanges {
  return {
    list: (query) => listChanges(core, query),
    undo: async (target, by) => undoChanges(core, target, by),
  };
}
