/**
 * Implementation of Edit: plans the change on the current content, writes the whole file, and records it as read.
 *
 * The plan is made twice: before a person is asked, so that an impossible edit is refused at once, and again for the
 * write, on the content at that time.
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
import { type FileToChange, type KnownFile, openKnownFile, validateUnasked, writeKnownFile } from '../known-file.ts';
import type { FileToolServices } from '../services.ts';
import type { EditArguments } from './schema.ts';

/** Output of Edit. */
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

/** Refuse an impossible edit before a person is asked. */
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
    planEdit(services, input, fileToChange(located, input), context),
  );
}

/** Run Edit. */
export async function runEdit(
  services: FileToolServices,
  input: EditArguments,
  context: ToolUseContext,
): Promise<ToolResult<EditOutput>> {
  const located = await judgedPath(services.locate, context, { path: input.file_path, access: 'write' });
  const file = fileToChange(located, input);
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
  file: FileToChange,
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

function fileToChange(located: LocatedPath, input: EditArguments): FileToChange {
  return { located, spelled: input.file_path, action: 'Cannot edit' };
}

function refuse(input: EditArguments, why: string): GauntletError {
  return new GauntletError('tool_failed', `Cannot edit "${input.file_path}": ${why}`);
}

/** Result of a replacement, or the reason for a failure, which follows `Cannot edit "…": `. */
type Replacement = { readonly text: string; readonly count: number } | { readonly refusal: string };

/** Parameters of a replacement. */
interface ReplaceRequest {
  readonly oldString: string;
  readonly newString: string;
  readonly isAll: boolean;
  /** Upper bound of the result, in UTF-16 units. */
  readonly maxChars: number;
}

/** Replace exact text. In a file with CR LF line ends, `\n` in the request matches them. */
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

/** Decode a file's text and whether it begins with a byte order mark; undefined if it is not UTF-8. */
function decodeText(bytes: Buffer): { readonly text: string; readonly hasMark: boolean } | undefined {
  if (!isUtf8(bytes) || bytes.includes(0)) return undefined;
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return { text: bytes.toString('utf8', hasMark ? 3 : 0), hasMark };
}

/** Encode a text, with its byte order mark. */
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
