/**
 * Interface to a session's changes for the routes: list and undo.
 */
import { type ChangedFile, changedFiles, readChangedFile } from './changed-files.ts';
import { type ChangeQuery, listChanges } from './list-changes.ts';
import type { ChangePage, UndoReply } from '../../wire/call-replies.ts';
import type { SessionCore } from '../session-core.ts';
import { previewUndo, undoChanges, type UndoTarget } from './undo.ts';

/** Changes that a session's tools made to files. */
export interface SessionChanges {
  /** List changes, oldest first. @throws {GauntletError} as `listChanges` */
  list(query: ChangeQuery): Promise<ChangePage>;
  /** List the files as they are now, the latest change first. @throws {GauntletError} As `changedFiles` */
  files(): Promise<readonly ChangedFile[]>;
  /** Read one of them as it is now. @throws {GauntletError} As `readChangedFile` */
  read(path: string, maxBytes: number): Promise<Buffer>;
  /** Restore files. @param by Principal that requests it. @throws {GauntletError} as `undoChanges` */
  undo(target: UndoTarget, by: string): Promise<UndoReply>;
  /** Tell what an undo would do. @throws {GauntletError} as `undoChanges` */
  preview(target: UndoTarget): Promise<UndoReply>;
}

/** Create the interface for one session. */
export function sessionChanges(core: SessionCore): SessionChanges {
  return {
    list: (query) => listChanges(core, query),
    files: () => changedFiles(core),
    read: (path, maxBytes) => readChangedFile(core, path, maxBytes),
    undo: async (target, by) => undoChanges(core, target, by),
    preview: (target) => previewUndo(core, target),
  };
}
