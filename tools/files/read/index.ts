/** Read: shows a file to the model. */
import { extname } from 'node:path';
import { showText, showValue } from '../../../src/base/hidden-characters.ts';
import { shownHead } from '../../../src/files/shown-head.ts';
import { shownAbsolute } from '../../../src/files/spelling.ts';
import { TOOL_ALIASES } from '../../../src/permissions/rule-names.ts';
import { buildTool } from '../../../src/tool/build-tool.ts';
import type { ToolResultBlock } from '../../../src/wire/blocks.ts';
import type { Display, DisplayBlock } from '../../../src/wire/display.ts';
import type { FileToolServices } from '../services.ts';
import type { ReadOutput } from './output.ts';
import { runRead } from './run.ts';
import { type ReadArguments, ReadInput, MAX_PDF_PAGES } from './schema.ts';
import { MAX_LINE_CHARS } from './show-file.ts';
import { MAX_LINES } from './text.ts';

/** The words. */
function readPrompt(): string {
  return `Reads a file from the local file system.

- \`file_path\` may be absolute or relative to the working directory; absolute is safer.
- By default it shows up to ${MAX_LINES} lines from the start of the file. Each line begins with its number and a tab, as in \`cat -n\`; they are not part of the file.
- A file too large for one page ends with a PARTIAL notice that names the \`offset\` to go on with. Use \`offset\` and \`limit\` only for such files; otherwise read the whole file.
- Lines longer than ${MAX_LINE_CHARS} characters are cut, with a note saying so.
- It also shows images (PNG, JPEG, GIF, WebP), PDF files as text, page by page (\`pages\`, at most ${MAX_PDF_PAGES} at once), and Jupyter notebooks, all cells with their outputs.
- It reads files only; to list a folder, use Glob, or \`ls\` with Bash.
- A file must be read before it can be edited or overwritten.
- Read several files that may be useful at once, in one message: the calls run side by side.
- A file that exists but is empty is answered with a notice instead of its content.`;
}

/** Create Read. */
export function readTool(services: FileToolServices) {
  return buildTool({
    name: 'Read',
    aliases: TOOL_ALIASES.Read,
    searchHint: 'show a file: text, image, PDF, notebook',
    alwaysLoad: true,
    inputSchema: ReadInput,
    maxResultSizeChars: Infinity,
    prompt: () => readPrompt(),
    description: (input) => `Read ${input.file_path}`,
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    paths: (input) => [{ path: input.file_path, access: 'read' }],
    backfillObservableInput: shownAbsolute('file_path'),
    toAutoClassifierInput: (input) => input.file_path,
    isSearchOrReadCommand: () => ({ isSearch: false, isRead: true }),
    interruptBehavior: () => 'cancel',
    call: (input, context, _canUseTool, _parentMessage, onProgress) => runRead(services, input, context, onProgress),
    mapToolResultToToolResultBlockParam: readResult,
    isResultTruncated: (output: ReadOutput) => output.isPartial,
    getToolUseSummary: (input) => input.file_path ?? '',
    getActivityDescription: (input) => `Reading ${input.file_path ?? 'a file'}`,
    renderToolUseMessage: renderRead,
    renderToolResultMessage: (output: ReadOutput, _progress, { style }) =>
      renderReadResult(output, style, services.limits.previewChars),
    renderToolUseRejectedMessage: renderReadRejected,
    renderToolUseErrorMessage: renderReadError,
  });
}

/** Display the request; the input may still be streaming in. */
function renderRead(input: Partial<ReadArguments>): Display {
  return {
    title: `Read ${showValue(input.file_path, '…')}`,
    ...range(input),
    blocks: [],
    group: { key: 'read', title: 'Read files' },
  };
}

/** Display the result. */
function renderReadResult(output: ReadOutput, style: 'condensed' | undefined, previewChars: number): Display {
  const title = output.type === 'text' ? textTitle(output) : `Read ${output.type}: ${output.summary}`;
  const subtitle = showText(output.path);
  return { title, subtitle, blocks: style === 'condensed' ? [] : resultBlocks(output, previewChars) };
}

/** Display a call that was denied. */
function renderReadRejected(input: Partial<ReadArguments>, message: string): Display {
  return {
    title: `Did not read ${showValue(input.file_path, 'the file')}`,
    tone: 'warning',
    blocks: [{ kind: 'text', text: message }],
  };
}

/** Display a call that failed. */
function renderReadError(message: string, input: Partial<ReadArguments>): Display {
  return {
    title: `Could not read ${showValue(input.file_path, 'the file')}`,
    tone: 'danger',
    blocks: [{ kind: 'text', text: message }],
  };
}

/** Format the result for the model. */
function readResult(output: ReadOutput, toolUseId: string): ToolResultBlock {
  const content = output.type === 'text' ? [output.text, output.notice].filter(Boolean).join('\n\n') : output.content;
  return { type: 'tool_result', tool_use_id: toolUseId, content };
}

function range(input: Partial<ReadArguments>): { subtitle?: string } {
  if (typeof input.pages === 'string') return { subtitle: `pages ${showText(input.pages)}` };
  if (typeof input.offset !== 'number' && typeof input.limit !== 'number') return {};
  const first = input.offset ?? 1;
  return { subtitle: input.limit === undefined ? `from ${first}` : `${first} to ${first + input.limit - 1}` };
}

function textTitle(output: Extract<ReadOutput, { type: 'text' }>): string {
  const lines = `Read ${output.lineCount} ${output.lineCount === 1 ? 'line' : 'lines'}`;
  return output.isPartial && output.totalLines !== undefined ? `${lines} of ${output.totalLines}` : lines;
}

function resultBlocks(output: ReadOutput, previewChars: number): readonly DisplayBlock[] {
  if (output.type === 'text') {
    const code: DisplayBlock = {
      kind: 'code',
      text: shownHead(output.text, previewChars),
      language: extname(output.path).slice(1),
    };
    return output.notice === undefined ? [code] : [code, { kind: 'text', text: output.notice }];
  }
  return output.content.flatMap((block): DisplayBlock[] => {
    if (block.type === 'image')
      return [{ kind: 'image', media_type: block.source.media_type, data: block.source.data }];
    return block.type === 'text' ? [{ kind: 'text', text: shownHead(block.text, previewChars) }] : [];
  });
}
