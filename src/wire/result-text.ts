/**
 * The text of a result.
 */
import type { ToolResultBlock } from './blocks.ts';

/** All text of a result, text blocks joined by line ends; images and documents count as nothing. */
export function resultText(content: ToolResultBlock['content']): string {
  if (typeof content === 'string') return content;
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}
