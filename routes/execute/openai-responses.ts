/**
 * The shape of OpenAI Responses: `function_call` items in, `function_call_output` items out.
 */
import { z } from 'zod';
import { resultText, type ResultContentBlock, type ToolResultBlock } from '../../src/wire/blocks.ts';
import { IdSchema } from '../../src/wire/block-schema.ts';
import type { ReplyShape } from './shape.ts';

/** Its vendor's own fields are kept. */
const FunctionCallSchema = z.looseObject({
  call_id: IdSchema,
  name: z.string().min(1).max(256),
  arguments: z.string().describe('JSON'),
});

/** Output items of a response; its function calls are taken, whatever else it holds. */
export const OutputItemsSchema = z
  .array(z.looseObject({ type: z.string() }))
  .transform((items): unknown => items.filter(({ type }) => type === 'function_call'))
  .pipe(z.array(FunctionCallSchema))
  .describe('Output items of a response; its function_call items are taken');

/** Replies with one item a call: text, or, where there are images or documents, a list of parts. */
export const OPENAI_RESPONSES: ReplyShape = {
  appendix: (results) => `"input":${JSON.stringify(results.map(toItem))}`,
};

function toItem({ tool_use_id, content }: ToolResultBlock): object {
  const hasParts = typeof content !== 'string' && content.some(({ type }) => type === 'image' || type === 'document');
  const output = hasParts ? content.flatMap(toPart) : resultText(content);
  return { type: 'function_call_output', call_id: tool_use_id, output };
}

function toPart(block: ResultContentBlock): readonly object[] {
  if (block.type === 'text') return [{ type: 'input_text', text: block.text }];
  if (block.type === 'tool_reference') return [];
  const data = `data:${block.source.media_type};base64,${block.source.data}`;
  if (block.type === 'image') return [{ type: 'input_image', image_url: data, detail: 'auto' }];
  return [{ type: 'input_file', filename: block.title ?? 'document.pdf', file_data: data }];
}
