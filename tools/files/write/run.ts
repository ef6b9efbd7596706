/**
 * Write: see that nothing unseen is lost, write it whole, remember it as seen.
 */
import { GauntletError } from '../../../src/base/errors.ts';
import type { DiffHunk } from '../../../src/wire/display.ts';
import type { LocatedPath } from '../../../src/tool/located-path.ts';
import type { ToolResult, ToolUseContext, ValidationResult } from '../../../src/tool/tool.ts';
import { judgedPath } from '../../../src/files/judged-path.ts';
import { diffHunks } from '../../../src/files/text-diff.ts';
import { type FileInHand, openKnownFile, validateUnasked, writeKnownFile } from '../known-file.ts';
import type { FileToolServices } from '../services.ts';
import type { WriteArguments } from './schema.ts';

/** What Write hands back. */
export interface WriteOutput {
  /** Absolute. */
  readonly path: string;
  readonly isNew: boolean;
  readonly sizeBytes: number;
  readonly hunks: readonly DiffHunk[];
}

/** Refuse, before anybody is asked, to overwrite what was not seen. */
export async function validateWrite(
  services: FileToolServices,
  input: WriteArguments,
  context: ToolUseContext,
): Promise<ValidationResult> {
  return validateUnasked(services, input.file_path, context, (located) =>
    openKnownFile(services, inHand(located, input), context),
  );
}

/** Run Write. */
export async function runWrite(
  services: FileToolServices,
  input: WriteArguments,
  context: ToolUseContext,
): Promise<ToolResult<WriteOutput>> {
  if (/[\\/]$/.test(input.file_path)) {
    throw new GauntletError(
      'tool_failed',
      `Cannot write "${input.file_path}": it names a folder. Give the path of a file`,
    );
  }
  const located = await judgedPath(services.locate, context, { path: input.file_path, access: 'write' });
  const file = inHand(located, input);
  const known = await openKnownFile(services, file, context);
  context.signal.throwIfAborted();
  const content = Buffer.from(input.content);
  const contextModifier = await writeKnownFile(services, file, { known, content, toolName: 'Write' }, context);
  const before = known?.content.toString('utf8') ?? '';
  const hunks = diffHunks(before, input.content, services.limits.diffMs);
  return { data: { path: located.spelled, isNew: !known, sizeBytes: content.length, hunks }, contextModifier };
}

function inHand(located: LocatedPath, input: WriteArguments): FileInHand {
  return { located, spelled: input.file_path, action: 'Cannot write', isReplaced: true };
}
