/**
 * Interface to a session's changes for the routes: list and undo.
 */
import { type ChangeQuery, listChanges } from './list-changes.ts';
import type { ChangePage, UndoReply } from '../../wire/call-replies.ts';
import type { SessionCore } from '../session-core.ts';
import { undoChanges, type UndoTarget } from './undo.ts';

/** Changes that a session's tools made to files. */
export interface SessionChanges {
  /** List changes, oldest first. @throws {GauntletError} as `listChanges` */
  list(query: ChangeQuery): Promise<ChangePage>;
  /** Restore files. @param by Principal that requests it. @throws {GauntletError} as `undoChanges` */
  undo(target: UndoTarget, by: string): Promise<UndoReply>;
}

/** Create the interface for one session. */
export function sessionChanges(core: SessionCore): SessionChanges {
  return {
    list: (query) => listChanges(core, query),
    undo: async (target, by) => undoChanges(core, target, by),
  };
}
