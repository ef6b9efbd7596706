/**
 * Renders a call to an MCP tool as display data: arguments, progress and result.
 */
import type { ResultContentBlock } from '../wire/blocks.ts';
import type { Display, DisplayBlock } from '../wire/display.ts';
import type { Tool, ToolProgress } from '../tool/tool.ts';
import type { McpOutput } from './call-result.ts';
import { visibleLine, visibleText } from './visible-text.ts';

/** Data of a progress frame (PROTOCOL section 5). */
export interface McpProgress {
  readonly type: 'mcp';
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** Longest text of one display block, in characters; the log has the whole result. */
const SHOWN_CHARS = 4_000;
const CONDENSED_CHARS = 200;
const ARGUMENT_CHARS = 300;
/** Maximum of arguments shown, one a line. */
const MAX_SHOWN_ARGUMENTS = 20;

type Drawing = Required<
  Pick<
    Tool<Tool['inputSchema'], McpOutput, McpProgress>,
    | 'renderToolUseMessage'
    | 'renderToolUseProgressMessage'
    | 'renderToolResultMessage'
    | 'renderToolUseRejectedMessage'
    | 'renderToolUseErrorMessage'
  >
>;

/** Rendering functions of the tool that is displayed as `title`. */
export function mcpRendering(title: string): Drawing {
  return {
    renderToolUseMessage: (input) => ({ title, blocks: argumentBlocks(input) }),
    renderToolUseProgressMessage: (progress) => ({ title, tone: 'info', blocks: progressBlocks(progress) }),
    renderToolResultMessage: ({ content }, _progress, { style }) => {
      const shownChars = style === 'condensed' ? CONDENSED_CHARS : SHOWN_CHARS;
      return { title, tone: 'success', blocks: content.map((block) => resultBlock(block, shownChars)) };
    },
    renderToolUseRejectedMessage: (input, message) => ({
      ...messageDisplay(title, 'warning', message),
      subtitle: 'not allowed',
      blocks: [...argumentBlocks(input), { kind: 'text', text: visibleText(message, SHOWN_CHARS) }],
    }),
    renderToolUseErrorMessage: (message) => messageDisplay(title, 'danger', message),
  };
}

function messageDisplay(title: string, tone: Display['tone'], message: string): Display {
  return { title, tone, blocks: [{ kind: 'text', text: visibleText(message, SHOWN_CHARS) }] };
}

function argumentBlocks(input: Readonly<Record<string, unknown>>): readonly DisplayBlock[] {
  const entries = Object.entries(input ?? {}).slice(0, MAX_SHOWN_ARGUMENTS);
  if (entries.length === 0) return [];
  return [
    {
      kind: 'list',
      items: entries.map(([key, value]) => visibleLine(`${key}: ${argumentText(value)}`, ARGUMENT_CHARS)),
    },
  ];
}

function argumentText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function progressBlocks(progress: readonly ToolProgress<McpProgress>[]): readonly DisplayBlock[] {
  const last = progress.at(-1)?.data;
  if (last === undefined) return [];
  const counted = last.total === undefined ? String(last.progress) : `${last.progress} of ${last.total}`;
  const label = visibleLine(last.message ?? counted, ARGUMENT_CHARS);
  const hasFraction = last.total !== undefined && last.total > 0;
  return [
    { kind: 'progress', label, ...(hasFraction ? { value: Math.min(1, last.progress / (last.total ?? 1)) } : {}) },
  ];
}

function resultBlock(block: ResultContentBlock, shownChars: number): DisplayBlock {
  switch (block.type) {
    case 'text':
      return { kind: 'text', text: visibleText(block.text, shownChars) };
    case 'image':
      return { kind: 'image', media_type: block.source.media_type, data: block.source.data };
    case 'document':
      return { kind: 'text', text: `[${block.source.media_type}]` };
    case 'tool_reference':
      return { kind: 'text', text: visibleLine(block.tool_name, shownChars) };
  }
}
