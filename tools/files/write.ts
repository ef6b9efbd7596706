/** Write: creates a file, or overwrites one that was read. */
import { extname } from 'node:path';
import * as z from 'zod';
import { GauntletError } from '../../src/base/errors.ts';
import { showValue } from '../../src/base/hidden-characters.ts';
import { judgedPath } from '../../src/files/judged-path.ts';
import { shownHead } from '../../src/files/shown-head.ts';
import { shownAbsolute } from '../../src/files/spelling.ts';
import { diffHunks, formatHunks } from '../../src/files/text-diff.ts';
import { TOOL_ALIASES } from '../../src/permissions/rule-names.ts';
import { buildTool } from '../../src/tool/build-tool.ts';
import type { LocatedPath } from '../../src/tool/located-path.ts';
import type { ToolResult, ToolUseContext, ValidationResult } from '../../src/tool/tool.ts';
import type { ToolResultBlock } from '../../src/wire/blocks.ts';
import type { DiffHunk, Display, DisplayBlock } from '../../src/wire/display.ts';
import { drawChange } from './draw-change.ts';
import { type FileToChange, openKnownFile, validateUnasked, writeKnownFile } from './known-file.ts';
import type { FileToolServices } from './services.ts';

/** Text of a file that a person is shown. */
const MAX_DISPLAY_CHARS = 8_000;

/** The words. */
const WRITE_PROMPT = `Writes a file to the local file system, whole.

- Missing parent folders are created.
- An existing file is overwritten, but only if all of it was read with Read in this session and it has not changed since; otherwise the call is refused.
- To change part of a file, use Edit: it sends only what changes. Write is for new files and complete rewrites.
- \`content\` becomes the file exactly as it is given.
- Do not create documentation files (*.md, README) unless asked to.
- The answer shows what changed in an existing file as a diff.`;

/** Input of Write. */
const WriteInput = z.strictObject({
  file_path: z
    .string()
    .min(1)
    .describe(
      'The file to write: an absolute path, or one relative to the working directory. Missing folders are created',
    ),
  content: z.string().describe('The whole content of the file'),
});

/** A parsed input of Write. */
export interface WriteArguments {
  readonly file_path: string;
  readonly content: string;
}

/** Create Write. */
export function writeTool(services: FileToolServices) {
  return buildTool({
    name: 'Write',
    aliases: TOOL_ALIASES.Write,
    searchHint: 'create a file or overwrite it whole',
    alwaysLoad: true,
    isFileEdit: true,
    inputSchema: WriteInput,
    maxResultSizeChars: 100_000,
    prompt: () => WRITE_PROMPT,
    description: (input) => `Write ${input.file_path}`,
    validateInput: (input, context) => validateWrite(services, input, context),
    paths: (input) => [{ path: input.file_path, access: 'write' }],
    backfillObservableInput: shownAbsolute('file_path'),
    toAutoClassifierInput: (input) => `${input.file_path}: ${input.content}`,
    call: (input, context) => runWrite(services, input, context),
    mapToolResultToToolResultBlockParam: writeResult,
    toHookResponse: ({ path, ...output }: WriteOutput) => ({ filePath: path, success: true, ...output }),
    getToolUseSummary: (input) => input.file_path ?? '',
    getActivityDescription: (input) => `Writing ${input.file_path ?? 'a file'}`,
    renderToolUseMessage: renderWrite,
    renderToolResultMessage: (output: WriteOutput, _progress, { style }) => renderWriteResult(output, style),
    renderToolUseRejectedMessage: renderWriteRejected,
    renderToolUseErrorMessage: renderWriteError,
  });
}

/** Output of Write. */
export interface WriteOutput {
  /** Absolute. */
  readonly path: string;
  readonly isNew: boolean;
  readonly sizeBytes: number;
  readonly hunks: readonly DiffHunk[];
}

/** Refuse to overwrite an unread file before a person is asked. */
async function validateWrite(
  services: FileToolServices,
  input: WriteArguments,
  context: ToolUseContext,
): Promise<ValidationResult> {
  return validateUnasked(services, input.file_path, context, (located) =>
    openKnownFile(services, fileToChange(located, input), context),
  );
}

/** Run Write. */
async function runWrite(
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
  const file = fileToChange(located, input);
  const known = await openKnownFile(services, file, context);
  context.signal.throwIfAborted();
  const content = Buffer.from(input.content);
  const contextModifier = await writeKnownFile(services, file, { known, content, toolName: 'Write' }, context);
  const before = known?.content.toString('utf8') ?? '';
  const hunks = diffHunks(before, input.content);
  return { data: { path: located.spelled, isNew: !known, sizeBytes: content.length, hunks }, contextModifier };
}

function fileToChange(located: LocatedPath, input: WriteArguments): FileToChange {
  return { located, spelled: input.file_path, action: 'Cannot write', isReplaced: true };
}

/** Display the request as far as the input has arrived. */
function renderWrite(input: Partial<WriteArguments>): Display {
  return {
    title: `Write ${showValue(input.file_path, '…')}`,
    tone: 'warning',
    blocks: contentBlocks(input),
    group: { key: 'write', title: 'Write files' },
  };
}

/** Display the result. */
function renderWriteResult(output: WriteOutput, style: 'condensed' | undefined): Display {
  return drawChange(output.isNew ? 'Created' : 'Wrote', output, style);
}

/** Display a call that was denied. */
function renderWriteRejected(input: Partial<WriteArguments>, message: string): Display {
  return {
    title: `Did not write ${showValue(input.file_path, 'the file')}`,
    tone: 'warning',
    blocks: [{ kind: 'text', text: message }, ...contentBlocks(input)],
  };
}

/** Display a call that failed. */
function renderWriteError(message: string, input: Partial<WriteArguments>): Display {
  return {
    title: `Could not write ${showValue(input.file_path, 'the file')}`,
    tone: 'danger',
    blocks: [{ kind: 'text', text: message }],
  };
}

/** Format the result for the model. */
function writeResult(output: WriteOutput, toolUseId: string): ToolResultBlock {
  const what = output.isNew ? `Created "${output.path}"` : `Wrote "${output.path}"`;
  const diff = output.isNew
    ? ''
    : `\n${output.hunks.length === 0 ? 'The content is what it was' : formatHunks(output.hunks)}`;
  return { type: 'tool_result', tool_use_id: toolUseId, content: `${what} (${output.sizeBytes} bytes)${diff}` };
}

function contentBlocks(input: Partial<WriteArguments>): readonly DisplayBlock[] {
  if (typeof input.content !== 'string') return [];
  const language = typeof input.file_path === 'string' ? extname(input.file_path).slice(1) : '';
  return [{ kind: 'code', text: shownHead(input.content, MAX_DISPLAY_CHARS), language }];
}
