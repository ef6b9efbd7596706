/**
 * An edit that a person is shown before it is made: what was shown is what is written, or nothing is.
 */
import type { Stats } from 'node:fs';
import { isUtf8 } from 'node:buffer';
import type { Limits } from '../../config/limits.ts';
import type { DiffHunk } from '../wire/display.ts';
import type { LocatedPath } from '../tool/located-path.ts';
import type { ToolUseContext } from '../tool/tool.ts';
import { sha256Of } from './file-state.ts';
import type { FileHistory } from './history.ts';
import { withCheckedFile } from './open-checked.ts';
import { recordedWrite } from './recorded-write.ts';
import { diffHunks } from './text-diff.ts';

/** A file that is there, and what it would become. */
export interface ShownEdit {
  readonly located: LocatedPath;
  /** As the caller wrote it, for messages. */
  readonly spelled: string;
  readonly known: { readonly content: Buffer; readonly sha256: string; readonly stats: Stats };
  readonly after: Buffer;
  readonly hunks: readonly DiffHunk[];
}

/** A file to edit. */
export type EditableFile = Pick<ShownEdit, 'located' | 'spelled'>;

/** How much is read and shown. */
type ShownLimits = Pick<Limits, 'shownEditBytes' | 'shownEditLines' | 'shownEditChars' | 'diffMs'>;

/** Setuid, setgid and sticky: a write here drops them. */
const SPECIAL_BITS = 0o7000;

/**
 * Work out an edit. Changes nothing.
 *
 * @param change The text after, from the text before; undefined where it cannot be known.
 * @returns undefined also for what is no text, and for more than may be shown: nobody could see what they allow.
 * @throws {GauntletError} As `withCheckedFile`.
 */
export async function planShownEdit(
  { located, spelled }: EditableFile,
  change: (before: string) => Promise<string | undefined>,
  limits: ShownLimits,
): Promise<ShownEdit | undefined> {
  const known = await readText(located.real, spelled, limits.shownEditBytes);
  if (!known) return undefined;
  const before = String(known.content);
  const after = await change(before);
  if (after === undefined) return undefined;
  const hunks = diffHunks(before, after, limits.diffMs);
  const lines = hunks.flatMap((hunk) => hunk.lines);
  const chars = lines.reduce((sum, line) => sum + line.length, 0);
  const isTooMuch = lines.length > limits.shownEditLines || chars > limits.shownEditChars;
  return isTooMuch ? undefined : { located, spelled, known, after: Buffer.from(after), hunks };
}

/** Equal for edits that make the same of the same file. */
export function shownEditKey({ located, known, after }: ShownEdit): string {
  return `${located.real} ${known.sha256} ${sha256Of(after)}`;
}

/**
 * Make the edit.
 *
 * @param toolName Who writes, for those who come too late.
 * @throws {GauntletError} As `recordedWrite`; `tool_failed` where the file is not what was shown any more.
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

function readText(real: string, spelled: string, mostBytes: number): Promise<ShownEdit['known'] | undefined> {
  return withCheckedFile(real, spelled, async ({ stats, readWhole }) => {
    if (stats.size > mostBytes || (stats.mode & SPECIAL_BITS) !== 0) return undefined;
    const content = await readWhole(mostBytes);
    return isUtf8(content) && !content.includes(0) ? { content, sha256: sha256Of(content), stats } : undefined;
  });
}
