/**
 * Converts the result of a call to the content of an MCP result.
 */
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/server';
import { referenceText } from '../../src/wire/result-text.ts';
import type { ResultContentBlock } from '../../src/wire/blocks.ts';
import type { TurnReply } from '../../src/session/turn/turn-reply.ts';
import { encodePart, resultUri } from './resource-uri.ts';

/** Convert the reply to a turn of one call. */
export function toCallToolResult(sessionId: string, { results, calls, newMessages }: TurnReply): CallToolResult {
  const [result] = results;
  const [call] = calls;
  if (!result || !call) throw new TypeError('A call ended without a result');
  const added = newMessages.flatMap(({ content }) => toContent(content));
  const { tool_use_id: toolUseId, spilled } = call;
  const whole: ContentBlock[] = spilled
    ? [
        {
          type: 'resource_link',
          uri: resultUri(sessionId, toolUseId),
          name: `${call.name} result`,
          description: `The whole text, ${spilled.chars} characters`,
          mimeType: 'text/plain',
        },
      ]
    : [];
  return {
    content: [...toContent(result.content), ...added, ...whole],
    ...(result.is_error === true && { isError: true }),
    _meta: {
      'gauntlet/session_id': sessionId,
      'gauntlet/tool_use_id': toolUseId,
      'gauntlet/status': call.status,
      ...(call.error_code !== undefined && { 'gauntlet/error_code': call.error_code }),
    },
  };
}

/** Convert content for a model. */
export function toContent(content: string | readonly ResultContentBlock[]): ContentBlock[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return content.map(toBlock);
}

function toBlock(block: ResultContentBlock): ContentBlock {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'image':
      return { type: 'image', data: block.source.data, mimeType: block.source.media_type };
    case 'document': {
      const { media_type: mimeType, data: blob } = block.source;
      const name = encodePart(block.title ?? 'document');
      return { type: 'resource', resource: { uri: `gauntlet://documents/${name}`, mimeType, blob } };
    }
    case 'tool_reference':
      return { type: 'text', text: referenceText(block.tool_name) };
  }
}
