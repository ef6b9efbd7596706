/** Shared by Edit and Write: no file is overwritten unless the session has read its current content. */
import type { Stats } from 'node:fs';
import { GauntletError, isGauntletError } from '../../src/base/errors.ts';
import type { LocatedPath } from '../../src/tool/located-path.ts';
import type { ContextModifier, FileReadRecord } from '../../src/tool/session-context.ts';
import type { ToolUseContext, ValidationResult } from '../../src/tool/tool.ts';
import { sha256Of, MAX_EDITED_BYTES } from '../../src/files/file-state.ts';
import { type CheckedFile, withCheckedFile } from '../../src/files/open-checked.ts';
import { recordedWrite } from '../../src/files/recorded-write.ts';
import { firstUnseenLine, withReadRecord } from '../../src/files/read-state.ts';
import { UNDO } from '../../src/files/writers.ts';
import type { FileToolServices } from './services.ts';

/** A file that is unchanged since the session last read it. */
export interface KnownFile {
  readonly content: Buffer;
  readonly sha256: string;
  readonly stats: Stats;
  /** True if only part of it was shown to the session. */
  readonly isPartlySeen: boolean;
}

/** A file to change, with its names for messages. */
export interface FileToChange {
  readonly located: LocatedPath;
  /** Path as the caller wrote it, for messages. */
  readonly spelled: string;
  /** First words of messages: `Cannot edit`. */
  readonly action: string;
  /** True if all of it is replaced, so that all of it must have been read. */
  readonly isReplaced?: boolean;
}

/**
 * Open a file to change.
 *
 * @returns undefined if it does not exist.
 * @throws {GauntletError} `tool_failed` if it was not read, changed since, is too large, or is to be replaced but was
 * read only in part.
 */
export async function openKnownFile(
  services: FileToolServices,
  file: FileToChange,
  context: ToolUseContext,
): Promise<KnownFile | undefined> {
  const { located, spelled } = file;
  try {
    return await withCheckedFile(located.real, spelled, async (opened) => {
      const record = context.session.readState.get(located.real);
      if (!record) throw refuse(file, 'it exists and was not read in this session. Read it first');
      const maxBytes = MAX_EDITED_BYTES;
      if (opened.stats.size > maxBytes)
        throw refuse(file, `it has ${opened.stats.size} bytes, at most ${maxBytes} can be changed here. Use Bash`);
      const content = await opened.readWhole(maxBytes);
      const sha256 = sha256Of(content);
      if (isChanged(opened, sha256, record))
        throw refuse(file, `the file changed after it was read${by(services, file, context)}. Read it again first`);
      if (file.isReplaced === true && record.isPartial) throw refuse(file, unseen(record));
      return { content, sha256, stats: opened.stats, isPartlySeen: record.isPartial };
    });
  } catch (error) {
    if (!isGauntletError(error, 'tool_failed')) throw error;
    if (error.details?.reason === 'enoent') return undefined;
    if (error.details?.reason === 'eisdir') throw refuse(file, 'it is a folder. Give the path of a file');
    throw error;
  }
}

/**
 * Write the new content and record it as read.
 *
 * @param known Previous content; undefined if no file may exist.
 * @param toolName Recorded as the last writer, for later edits by other sessions.
 */
export async function writeKnownFile(
  services: FileToolServices,
  { located: { real }, spelled }: FileToChange,
  {
    known,
    content,
    toolName,
  }: { readonly known: KnownFile | undefined; readonly content: Buffer; readonly toolName: string },
  context: ToolUseContext,
): Promise<ContextModifier> {
  const { stats, sha256 } = await recordedWrite(services.history, { real, spelled, content, known }, context);
  services.history.writers.note(real, { sessionId: context.sessionId, principal: context.principal, toolName });
  // After an edit the unread part of a file is still unread.
  const isPartial = known?.isPartlySeen === true;
  const record = { path: real, mtimeMs: stats.mtimeMs, sizeBytes: stats.size, sha256, isPartial };
  return (session) => withReadRecord(session, record);
}

/**
 * Refuse an impossible change before a person is asked.
 *
 * Files that the session may not read unasked are accepted without a check, so that their existence is not revealed
 * before the gate has decided.
 */
export async function validateUnasked(
  services: FileToolServices,
  path: string,
  context: ToolUseContext,
  dryRun: (located: LocatedPath) => Promise<unknown>,
): Promise<ValidationResult> {
  const located = await services.locate({ path, access: 'write' }, context);
  const isDenied = context.isReadDenied(located.real) || context.isReadDenied(located.spelled);
  if (located.refusal !== undefined || isDenied || !located.isInside) return { result: true };
  try {
    await dryRun(located);
    return { result: true };
  } catch (error) {
    if (isGauntletError(error, 'tool_failed')) return { result: false, message: error.message };
    throw error;
  }
}

function isChanged(opened: CheckedFile, sha256: string, record: FileReadRecord): boolean {
  // The content decides if it is known: a touched file is unchanged, and a clock can be set back.
  if (record.sha256 !== undefined) return sha256 !== record.sha256;
  return opened.stats.mtimeMs !== record.mtimeMs || opened.stats.size !== record.sizeBytes;
}

function unseen(record: FileReadRecord): string {
  const editAdvice = 'or change a part of it with Edit';
  if (record.hasCutLines === true)
    return 'Read cuts lines as long as it has, so parts of it are unseen. Change a part of it with Edit';
  const { shownLines = [] } = record;
  if (shownLines.length === 0) return `only part of it was read in this session. Read it whole first, ${editAdvice}`;
  return `only part of it was read in this session. Read the rest first, from line ${firstUnseenLine(record)} on, ${editAdvice}`;
}

function by(services: FileToolServices, file: FileToChange, context: ToolUseContext): string {
  const writer = services.history.writers.last(file.located.real);
  if (!writer) return '';
  if (writer.sessionId === context.sessionId) return writer.toolName === UNDO ? ', last by an undo' : '';
  const who = writer.principal === context.principal ? `session "${writer.sessionId}"` : 'another session';
  return `, last by ${who} with ${writer.toolName}`;
}

function refuse(file: FileToChange, why: string): GauntletError {
  return new GauntletError('tool_failed', `${file.action} "${file.spelled}": ${why}`);
}
