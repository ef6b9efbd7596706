/**
 * Read: open what was judged, see what kind of file it is, show it, remember it for Edit and Write.
 */
import { createHash } from 'node:crypto';
import type { Limits } from '../../../config/limits.ts';
import { GauntletError, isGauntletError } from '../../../src/contract/errors.ts';
import type { LocatedPath } from '../../../src/contract/located-path.ts';
import type { FileReadRecord } from '../../../src/contract/session-context.ts';
import type { ToolProgress, ToolResult, ToolUseContext } from '../../../src/contract/tool.ts';
import { judgedPath } from '../../../src/files/judged-path.ts';
import { type CheckedFile, withCheckedFile } from '../../../src/files/open-checked.ts';
import { withReadRecord } from '../../../src/files/read-state.ts';
import { similarPath } from '../../../src/files/similar-name.ts';
import type { FileToolServices } from '../services.ts';
import type { ReadOutput } from './output.ts';
import { type RichFile, readRich, richKind } from './rich.ts';
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

/** Run Read. */
export async function runRead(
  services: FileToolServices,
  input: ReadArguments,
  context: ToolUseContext,
  onProgress?: (progress: ToolProgress<ReadProgress>) => void,
): Promise<ToolResult<ReadOutput>> {
  const { limits } = services;
  const located = await judgedPath(services.locate, context, { path: input.file_path, access: 'read' });
  context.signal.throwIfAborted();
  try {
    return await withCheckedFile(located.real, input.file_path, async (file) => {
      const whole = file.stats.size <= limits.readWholeBytes ? await file.readWhole(limits.readWholeBytes) : undefined;
      const read = { file, whole, input, located, context, limits, onProgress };
      const data = await readByKind(read);
      const record = readRecord(located, file, whole, data.isPartial);
      return { data, contextModifier: (session) => withReadRecord(session, record) };
    });
  } catch (error) {
    throw explain(error, input.file_path, located, context, limits);
  }
}

interface ReadInProgress {
  readonly file: CheckedFile;
  readonly whole: Buffer | undefined;
  readonly input: ReadArguments;
  readonly located: LocatedPath;
  readonly context: ToolUseContext;
  readonly limits: Limits;
  readonly onProgress: ((progress: ToolProgress<ReadProgress>) => void) | undefined;
}

async function readByKind(read: ReadInProgress): Promise<ReadOutput> {
  const { file, whole, input, located, context, limits } = read;
  const head = whole ?? (await readHead(file));
  const kind = await richKind(head.subarray(0, HEAD_BYTES), located.real);
  if (kind !== undefined) {
    const rich: RichFile = { kind, file, path: located.spelled, input, signal: context.signal };
    return readRich(rich, limits);
  }
  if (input.pages !== undefined) {
    throw new GauntletError('tool_failed', `Cannot read pages of "${input.file_path}": it is not a PDF. Use offset and limit`);
  }
  if (head.subarray(0, HEAD_BYTES).includes(0)) throw notText(input.file_path);
  const onBytes = throttle(limits.progressMs, read.onProgress);
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
      ...(onBytes ? { onProgress: onBytes } : {}),
    },
    limits,
  );
}

async function readHead(file: CheckedFile): Promise<Buffer> {
  const head = Buffer.allocUnsafe(HEAD_BYTES);
  return head.subarray(0, await file.read(head, 0));
}

function readRecord(located: LocatedPath, file: CheckedFile, whole: Buffer | undefined, isPartial: boolean): FileReadRecord {
  const record = { path: located.real, mtimeMs: file.stats.mtimeMs, sizeBytes: file.stats.size, isPartial };
  return whole ? { ...record, sha256: createHash('sha256').update(whole).digest('hex') } : record;
}

/** At most one report each `everyMs`. */
function throttle(
  everyMs: number,
  report: ((progress: ToolProgress<ReadProgress>) => void) | undefined,
): ((done: number, total: number) => void) | undefined {
  if (!report) return undefined;
  let last = performance.now();
  return (done, total) => {
    const now = performance.now();
    if (now - last < everyMs) return;
    last = now;
    report({ data: { type: 'bytes', done, total } });
  };
}

/** Add to an error what the reader can do about it. */
function explain(error: unknown, path: string, located: LocatedPath, context: ToolUseContext, limits: Limits): unknown {
  if (!isGauntletError(error, 'tool_failed')) return error;
  if (error.details?.reason === 'eisdir') {
    return new GauntletError('tool_failed', `Cannot read "${path}": it is a folder. List it with Glob, or with ls in Bash`);
  }
  if (error.details?.reason !== 'enoent') return error;
  const similar = located.isInside ? similarPath(located.real, limits.similarNames, (name) => context.isReadDenied(name)) : undefined;
  const next = similar === undefined ? `The working directory is "${context.session.cwd}"` : `Did you mean "${similar}"?`;
  return new GauntletError('tool_failed', `Cannot read "${path}": it does not exist. ${next}`, { details: error.details });
}
