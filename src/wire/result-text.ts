/**
 * The text of a result.
 */
import type { ResultContentBlock, ToolResultBlock } from './blocks.ts';

/** All text of a result, blocks joined by line ends; images and documents count as nothing. */
export function resultText(content: ToolResultBlock['content']): string {
  if (typeof content === 'string') return content;
  return content.flatMap(textOf).join('\n');
}

function textOf(block: ResultContentBlock): readonly string[] {
  if (block.type === 'tool_reference') return [referenceText(block.tool_name)];
  return block.type === 'text' ? [block.text] : [];
}

/** Text for models that know no references: their list has the definition. */
export function referenceText(toolName: string): string {
  return `The tool ${toolName} is in the list of tools`;
}
