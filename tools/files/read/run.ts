/**
 * Implementation of Read: opens the judged path, detects the kind of file, displays it, and records it for Edit and
 * Write.
 */
import { createHash } from 'node:crypto';
import { GauntletError, isGauntletError } from '../../../src/base/errors.ts';
import { judgedPath } from '../../../src/files/judged-path.ts';
import { type CheckedFile, withCheckedFile } from '../../../src/files/open-checked.ts';
import { END_OF_FILE, withReadRecord } from '../../../src/files/read-state.ts';
import { similarPath } from '../../../src/files/similar-name.ts';
import type { LocatedPath } from '../../../src/tool/located-path.ts';
import type { FileReadRecord } from '../../../src/tool/session-context.ts';
import type { ToolProgress, ToolResult, ToolUseContext } from '../../../src/tool/tool.ts';
import type { FileToolServices } from '../services.ts';
import type { ReadOutput } from './output.ts';
import type { ReadArguments } from './schema.ts';
import { type ReadProgress, showFile } from './show-file.ts';

/** A file up to this size is read whole, checked and hashed; a larger one is streamed. */
const MAX_WHOLE_BYTES = 1_024 * 1_024;

/** Run Read. */
export async function runRead(
  services: FileToolServices,
  input: ReadArguments,
  context: ToolUseContext,
  onProgress?: (progress: ToolProgress<ReadProgress>) => void,
): Promise<ToolResult<ReadOutput>> {
  const located = await judgedPath(services.locate, context, { path: input.file_path, access: 'read' });
  context.signal.throwIfAborted();
  try {
    return await withCheckedFile(located.real, input.file_path, async (file) => {
      const whole = file.stats.size <= MAX_WHOLE_BYTES ? await file.readWhole(MAX_WHOLE_BYTES) : undefined;
      const read = { file, whole, input, located, context, onProgress };
      const data = await showFile(read);
      const record = readRecord(located, file, whole, data);
      return { data, contextModifier: (session) => withReadRecord(session, record) };
    });
  } catch (error) {
    throw explainReadError(error, input.file_path, located, context);
  }
}

function readRecord(
  located: LocatedPath,
  file: CheckedFile,
  whole: Buffer | undefined,
  data: ReadOutput,
): FileReadRecord {
  const hasCutLines = data.type === 'text' && data.hasCutLines === true;
  const isPartial = data.isPartial || hasCutLines;
  const record = {
    path: located.real,
    mtimeMs: file.stats.mtimeMs,
    sizeBytes: file.stats.size,
    isPartial,
    ...(isPartial && { shownLines: shownLines(data), hasCutLines }),
  };
  return whole ? { sha256: createHash('sha256').update(whole).digest('hex'), ...record } : record;
}

function shownLines(data: ReadOutput): FileReadRecord['shownLines'] {
  if (data.type !== 'text' || data.lineCount === 0) return [];
  const last = data.startLine + data.lineCount - 1;
  const isEnd = data.totalLines !== undefined && last >= data.totalLines;
  return [[data.startLine, isEnd ? END_OF_FILE : last]];
}

/** Add advice to an error; other errors are returned unchanged. */
function explainReadError(error: unknown, path: string, located: LocatedPath, context: ToolUseContext): unknown {
  if (!isGauntletError(error, 'tool_failed')) return error;
  if (error.details?.reason === 'eisdir') {
    return new GauntletError(
      'tool_failed',
      `Cannot read "${path}": it is a folder. List it with Glob, or with ls in Bash`,
    );
  }
  if (error.details?.reason !== 'enoent') return error;
  const similar = located.isInside ? similarPath(located.real, (name) => context.isReadDenied(name)) : undefined;
  const next =
    similar === undefined ? `The working directory is "${context.session.cwd}"` : `Did you mean "${similar}"?`;
  return new GauntletError('tool_failed', `Cannot read "${path}": it does not exist. ${next}`, {
    details: error.details,
  });
}
