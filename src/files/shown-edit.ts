/** Edits that a person reviews before they are made: exactly the reviewed content is written, or nothing. */
import type { Stats } from 'node:fs';
import { isUtf8 } from 'node:buffer';
import type { DiffHunk } from '../wire/display.ts';
import type { LocatedPath } from '../tool/located-path.ts';
import type { ToolUseContext } from '../tool/tool.ts';
import { sha256Of } from './file-state.ts';
import type { FileHistory } from './history.ts';
import { withCheckedFile } from './open-checked.ts';
import { recordedWrite } from './recorded-write.ts';
import { diffHunks } from './text-diff.ts';

/** An existing file, with its content after the edit. */
export interface ShownEdit {
  readonly located: LocatedPath;
  /** Path as the caller wrote it, for messages. */
  readonly spelled: string;
  readonly known: { readonly content: Buffer; readonly sha256: string; readonly stats: Stats };
  readonly after: Buffer;
  readonly hunks: readonly DiffHunk[];
}

/** A file to edit. */
export type EditableFile = Pick<ShownEdit, 'located' | 'spelled'>;

/** A file up to this size, before and after, may be shown as it would become. */
export const MAX_SHOWN_FILE_BYTES = 1_024 * 1_024;

/** Lines of a diff that is shown; longer ones are left out entirely. */
const MAX_SHOWN_LINES = 400;

/** Text of the diff, likewise. */
const MAX_SHOWN_CHARS = 50_000;

/** Setuid, setgid and sticky: a write would drop them. */
const SPECIAL_BITS = 0o7000;

/**
 * Compute an edit without making it.
 *
 * @param change Returns the new text for the old one; undefined if it is unknown.
 * @returns undefined also if the file is not text, or the edit is too large to be shown for review.
 * @throws {GauntletError} As `withCheckedFile`.
 */
export async function planShownEdit(
  { located, spelled }: EditableFile,
  change: (before: string) => Promise<string | undefined>,
): Promise<ShownEdit | undefined> {
  const known = await readText(located.real, spelled, MAX_SHOWN_FILE_BYTES);
  if (!known) return undefined;
  const before = String(known.content);
  const after = await change(before);
  if (after === undefined) return undefined;
  const hunks = diffHunks(before, after);
  const lines = hunks.flatMap((hunk) => hunk.lines);
  const chars = lines.reduce((sum, line) => sum + line.length, 0);
  const isTooMuch = lines.length > MAX_SHOWN_LINES || chars > MAX_SHOWN_CHARS;
  return isTooMuch ? undefined : { located, spelled, known, after: Buffer.from(after), hunks };
}

/** Return a key that is equal for equal edits of the same file content. */
export function shownEditKey({ located, known, after }: ShownEdit): string {
  return `${located.real} ${known.sha256} ${sha256Of(after)}`;
}

/**
 * Make the edit.
 *
 * @param toolName Recorded as the last writer, for later edits of the same file.
 * @throws {GauntletError} As `recordedWrite`; `tool_failed` if the file differs from the reviewed one.
 */
export async function writeShownEdit(
  history: FileHistory,
  { located: { real }, spelled, known, after }: ShownEdit,
  toolName: string,
  context: ToolUseContext,
): Promise<void> {
  if (after.equals(known.content)) return;
  await recordedWrite(history, { real, spelled, content: after, known }, context);
  history.writers.note(real, { sessionId: context.sessionId, principal: context.principal, toolName });
}

function readText(real: string, spelled: string, maxBytes: number): Promise<ShownEdit['known'] | undefined> {
  return withCheckedFile(real, spelled, async ({ stats, readWhole }) => {
    if (stats.size > maxBytes || (stats.mode & SPECIAL_BITS) !== 0) return undefined;
    const content = await readWhole(maxBytes);
    return isUtf8(content) && !content.includes(0) ? { content, sha256: sha256Of(content), stats } : undefined;
  });
}
