/**
 * The middle of a read: the file is open; see what kind it is, and show it.
 */
import type { Limits } from '../../../config/limits.ts';
import { GauntletError } from '../../../src/base/errors.ts';
import type { LocatedPath } from '../../../src/tool/located-path.ts';
import type { ToolProgress, ToolUseContext } from '../../../src/tool/tool.ts';
import type { CheckedFile } from '../../../src/files/open-checked.ts';
import { createPace } from '../../../src/base/pace.ts';
import type { ReadOutput } from './output.ts';
import { readRich, richKind } from './rich.ts';
import type { ReadArguments } from './schema.ts';
import { notText, readText } from './text.ts';

/** Bytes that tell what kind of file it is. */
const HEAD_BYTES = 4_100;

/** Progress of a long read. */
export interface ReadProgress {
  readonly type: 'bytes';
  readonly done: number;
  readonly total: number;
}

/** A file that was opened to be read. */
export interface OpenedFile {
  readonly file: CheckedFile;
  /** The whole content, where the file is small. */
  readonly whole: Buffer | undefined;
  readonly input: ReadArguments;
  readonly located: LocatedPath;
  readonly context: ToolUseContext;
  readonly limits: Limits;
  readonly onProgress: ((progress: ToolProgress<ReadProgress>) => void) | undefined;
}

/** Show what was asked of a file, whatever kind of file it is. @throws {GauntletError} `tool_failed` when there is no way to. */
export async function showFile(read: OpenedFile): Promise<ReadOutput> {
  const { file, whole, input, located, context, limits } = read;
  const head = whole ?? (await readHead(file));
  const kind = await richKind(head.subarray(0, HEAD_BYTES), located.real);
  if (kind !== undefined) {
    return readRich({ kind, file, path: located.spelled, input, signal: context.signal }, limits);
  }
  if (input.pages !== undefined) {
    throw new GauntletError(
      'tool_failed',
      `Cannot read pages of "${input.file_path}": it is not a PDF. Use offset and limit`,
    );
  }
  if (head.subarray(0, HEAD_BYTES).includes(0)) throw notText(input.file_path);
  const { onProgress } = read;
  const isDue = createPace(limits.progressMs);
  return readText(
    {
      file,
      path: located.spelled,
      offset: Math.max(1, input.offset ?? 1),
      // A spilled result is often one long line, and this is the way to see it.
      maxLineChars: located.isSessionFile ? limits.readPageBytes : limits.readLineChars,
      signal: context.signal,
      ...(whole ? { whole } : {}),
      ...(input.limit === undefined ? {} : { limit: input.limit }),
      onProgress: (done, total) => {
        if (onProgress && isDue()) onProgress({ data: { type: 'bytes', done, total } });
      },
    },
    limits,
  );
}

async function readHead(file: CheckedFile): Promise<Buffer> {
  const head = Buffer.allocUnsafe(HEAD_BYTES);
  return head.subarray(0, await file.read(head, 0));
}
