/**
 * Edit: plan on what is there, write it whole, remember it as seen.
 *
 * The plan is made twice: before anybody is asked, so that a hopeless edit asks nobody, and again
 * for the write, on what is there by then.
 */
import { isUtf8 } from 'node:buffer';
import { GauntletError } from '../../../src/base/errors.ts';
import { MAX_EDITED_BYTES } from '../../../src/files/file-state.ts';
import { judgedPath } from '../../../src/files/judged-path.ts';
import { similarPath } from '../../../src/files/similar-name.ts';
import { diffHunks } from '../../../src/files/text-diff.ts';
import type { LocatedPath } from '../../../src/tool/located-path.ts';
import type { ToolResult, ToolUseContext, ValidationResult } from '../../../src/tool/tool.ts';
import type { DiffHunk } from '../../../src/wire/display.ts';
import { type FileInHand, type KnownFile, openKnownFile, validateUnasked, writeKnownFile } from '../known-file.ts';
import type { FileToolServices } from '../services.ts';
import type { EditArguments } from './schema.ts';

/** What Edit hands back. */
export interface EditOutput {
  /** Absolute. */
  readonly path: string;
  readonly isNew: boolean;
  readonly replacements: number;
  readonly hunks: readonly DiffHunk[];
}

interface EditPlan {
  readonly known: KnownFile | undefined;
  readonly before: string;
  readonly after: string;
  readonly hasMark: boolean;
  readonly count: number;
}

/** Refuse, before anybody is asked, an edit that cannot be made. */
export async function validateEdit(
  services: FileToolServices,
  input: EditArguments,
  context: ToolUseContext,
): Promise<ValidationResult> {
  if (input.old_string === input.new_string && input.old_string !== '') {
    return {
      result: false,
      message: `Cannot edit "${input.file_path}": old_string and new_string are equal, so nothing would change`,
    };
  }
  return validateUnasked(services, input.file_path, context, (located) =>
    planEdit(services, input, inHand(located, input), context),
  );
}

/** Run Edit. */
export async function runEdit(
  services: FileToolServices,
  input: EditArguments,
  context: ToolUseContext,
): Promise<ToolResult<EditOutput>> {
  const located = await judgedPath(services.locate, context, { path: input.file_path, access: 'write' });
  const file = inHand(located, input);
  const plan = await planEdit(services, input, file, context);
  context.signal.throwIfAborted();
  const content = encodeText(plan.after, plan.hasMark);
  const contextModifier = await writeKnownFile(
    services,
    file,
    { known: plan.known, content, toolName: 'Edit' },
    context,
  );
  const hunks = diffHunks(plan.before, plan.after);
  return { data: { path: located.spelled, isNew: !plan.known, replacements: plan.count, hunks }, contextModifier };
}

async function planEdit(
  services: FileToolServices,
  input: EditArguments,
  file: FileInHand,
  context: ToolUseContext,
): Promise<EditPlan> {
  const known = await openKnownFile(services, file, context);
  if (input.old_string === '') {
    if (known)
      throw refuse(
        input,
        'it exists, and an empty old_string creates a new file. Give the text to replace, or use Write',
      );
    return { known, before: '', after: input.new_string, hasMark: false, count: 1 };
  }
  if (!known) throw missing(input, file.located, context);
  const decoded = decodeText(known.content);
  if (!decoded) throw refuse(input, 'it is not UTF-8 text. Change it with Bash');
  const replaced = replaceText(decoded.text, {
    oldString: input.old_string,
    newString: input.new_string,
    isAll: input.replace_all ?? false,
    maxChars: MAX_EDITED_BYTES,
  });
  if ('refusal' in replaced) throw refuse(input, replaced.refusal);
  return { known, before: decoded.text, after: replaced.text, hasMark: decoded.hasMark, count: replaced.count };
}

function missing(input: EditArguments, located: LocatedPath, context: ToolUseContext): GauntletError {
  const similar = located.isInside ? similarPath(located.real, (path) => context.isReadDenied(path)) : undefined;
  const next =
    similar === undefined ? 'Create it with Write, or with an empty old_string' : `Did you mean "${similar}"?`;
  return refuse(input, `it does not exist. ${next}`);
}

function inHand(located: LocatedPath, input: EditArguments): FileInHand {
  return { located, spelled: input.file_path, action: 'Cannot edit' };
}

function refuse(input: EditArguments, why: string): GauntletError {
  return new GauntletError('tool_failed', `Cannot edit "${input.file_path}": ${why}`);
}

/** What came of a replacement, or why nothing did; the reason follows `Cannot edit "…": `. */
type Replacement = { readonly text: string; readonly count: number } | { readonly refusal: string };

/** One replacement. */
interface ReplaceRequest {
  readonly oldString: string;
  readonly newString: string;
  readonly isAll: boolean;
  /** Most UTF-16 units of the outcome. */
  readonly maxChars: number;
}

/** Replace exact text. In a file whose lines end in CR LF, `\n` of the request means that. */
function replaceText(text: string, request: ReplaceRequest): Replacement {
  const asWritten = { old: request.oldString, new: request.newString };
  const asWindows = { old: toWindows(request.oldString), new: toWindows(request.newString) };
  const hasWindows = text.includes('\r\n');
  const isAllWindows = hasWindows && !/(?:^|[^\r])\n/.test(text);
  const isExact = !isAllWindows && text.includes(asWritten.old);
  const wanted = isExact || !hasWindows ? asWritten : asWindows;

  const count = countOccurrences(text, wanted.old);
  if (count === 0)
    return { refusal: `old_string was not found. Read the file again and copy the text exactly, blanks included` };
  if (count > 1 && !request.isAll) {
    return { refusal: `old_string occurs ${count} times. Give more context to make it unique, or set replace_all` };
  }
  const chars = text.length + count * (wanted.new.length - wanted.old.length);
  if (chars > request.maxChars)
    return { refusal: `the file would have ${chars} characters, more than ${request.maxChars}` };
  return { text: text.split(wanted.old).join(wanted.new), count };
}

/** A file's text and whether a byte order mark stands before it; undefined when it is not UTF-8. */
function decodeText(bytes: Buffer): { readonly text: string; readonly hasMark: boolean } | undefined {
  if (!isUtf8(bytes) || bytes.includes(0)) return undefined;
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return { text: bytes.toString('utf8', hasMark ? 3 : 0), hasMark };
}

/** Back to bytes. */
function encodeText(text: string, hasMark: boolean): Buffer {
  return Buffer.from(hasMark ? `\ufeff${text}` : text);
}

function countOccurrences(text: string, part: string): number {
  let count = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count++;
  return count;
}

function toWindows(text: string): string {
  return text.replace(/\r?\n/g, '\r\n');
}
