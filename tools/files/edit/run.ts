/**
 * Edit: plan on what is there, write it whole, remember it as seen.
 *
 * The plan is made twice: before anybody is asked, so that a hopeless edit asks nobody, and again
 * for the write, on what is there by then.
 */
import { GauntletError } from '../../../src/base/errors.ts';
import type { DiffHunk } from '../../../src/wire/display.ts';
import type { LocatedPath } from '../../../src/tool/located-path.ts';
import type { ToolResult, ToolUseContext, ValidationResult } from '../../../src/tool/tool.ts';
import { judgedPath } from '../../../src/files/judged-path.ts';
import { similarPath } from '../../../src/files/similar-name.ts';
import { diffHunks } from '../../../src/files/text-diff.ts';
import { type FileInHand, type KnownFile, openKnownFile, validateUnasked, writeKnownFile } from '../known-file.ts';
import type { FileToolServices } from '../services.ts';
import { decodeText, encodeText, replaceText } from './replace.ts';
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
  const hunks = diffHunks(plan.before, plan.after, services.limits.diffMs);
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
  if (!known) throw missing(services, input, file.located, context);
  const decoded = decodeText(known.content);
  if (!decoded) throw refuse(input, 'it is not UTF-8 text. Change it with Bash');
  const replaced = replaceText(decoded.text, {
    oldString: input.old_string,
    newString: input.new_string,
    isAll: input.replace_all ?? false,
    maxChars: services.limits.editFileBytes,
  });
  if ('refusal' in replaced) throw refuse(input, replaced.refusal);
  return { known, before: decoded.text, after: replaced.text, hasMark: decoded.hasMark, count: replaced.count };
}

function missing(
  services: FileToolServices,
  input: EditArguments,
  located: LocatedPath,
  context: ToolUseContext,
): GauntletError {
  const similar = located.isInside
    ? similarPath(located.real, services.limits.similarNames, (path) => context.isReadDenied(path))
    : undefined;
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
