/**
 * What a server answers, as blocks a model can be sent.
 */
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client';
import type { Limits } from '../../config/limits.ts';
import type { ResultContentBlock } from '../wire/blocks.ts';
import { GauntletError } from '../base/errors.ts';
import { isDeeperThan } from '../base/json.ts';
import { visibleLine, visibleText } from './visible-text.ts';

/** What a call to an MCP tool came to. */
export interface McpOutput {
  readonly content: readonly ResultContentBlock[];
}

/** Media types the model APIs take as images. */
const IMAGE_TYPES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** What base64 may not hold; apart from its end, since one expression for both would take the square of a run of blanks. */
const NO_BASE64 = /[^A-Za-z0-9+/=\s]/;
const PADDING = /^={1,2}\s*$/;

/** Longest name, title or address inside a result's own words. */
const LABEL_CHARS = 1_000;

/**
 * Turn a server's answer into blocks.
 *
 * @throws {GauntletError} `tool_failed` with the server's own text when it says that the call failed.
 */
export function toOutput(result: CallToolResult, limits: Pick<Limits, 'jsonDepth' | 'resultChars'>): McpOutput {
  if (isDeeperThan(result, limits.jsonDepth)) {
    throw new GauntletError(
      'tool_failed',
      `The result is nested deeper than ${limits.jsonDepth} levels and was dropped`,
    );
  }
  const blocks = (result.content ?? []).map(toBlock);
  if (result.isError === true) throw new GauntletError('tool_failed', errorText(blocks, limits.resultChars));
  return { content: [...blocks, ...structuredBlocks(result.structuredContent, blocks)] };
}

function errorText(blocks: readonly ResultContentBlock[], maxChars: number): string {
  const text = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  return visibleText(text === '' ? 'The tool failed and did not say why' : text, maxChars);
}

function toBlock(block: ContentBlock): ResultContentBlock {
  switch (block.type) {
    case 'text':
      return text(block.text);
    case 'image':
      return binary(block.data, block.mimeType, 'image');
    case 'audio':
      return binary(block.data, block.mimeType, 'audio');
    case 'resource_link': {
      const title = block.title ?? block.name;
      const about = block.description === undefined ? '' : `: ${block.description}`;
      return text(visibleLine(`[Resource "${title}" at ${block.uri}${about}]`, LABEL_CHARS));
    }
    case 'resource': {
      const { resource } = block;
      const label = visibleLine(`resource ${resource.uri}`, LABEL_CHARS);
      if ('text' in resource) return text(`[${label}]\n${resource.text}`);
      return binary(resource.blob, resource.mimeType ?? 'application/octet-stream', label);
    }
    default:
      return text('[Content of a kind that cannot be shown]');
  }
}

function text(value: string): ResultContentBlock {
  return { type: 'text', text: value };
}

/** An image or a PDF as such; a note for everything else, for a model cannot read it. */
function binary(data: string, mediaType: string, label: string): ResultContentBlock {
  const type = mediaType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (isBase64(data)) {
    if (IMAGE_TYPES.has(type)) return { type: 'image', source: { type: 'base64', media_type: type, data } };
    if (type === 'application/pdf') return { type: 'document', source: { type: 'base64', media_type: type, data } };
  }
  const bytes = Math.floor((data.length * 3) / 4);
  return text(visibleLine(`[${label}: ${type}, about ${bytes} bytes, cannot be shown]`, LABEL_CHARS));
}

function isBase64(data: string): boolean {
  const padding = data.indexOf('=');
  return !NO_BASE64.test(data) && (padding < 0 || PADDING.test(data.slice(padding)));
}

/** The structured answer, unless a text block already says the same. */
function structuredBlocks(structured: unknown, blocks: readonly ResultContentBlock[]): readonly ResultContentBlock[] {
  if (structured === undefined) return [];
  const json = JSON.stringify(structured);
  // Servers that must answer an object wrap their one text in it.
  const members = typeof structured === 'object' && structured !== null ? Object.values(structured) : [];
  const only: unknown = members.length === 1 ? members[0] : undefined;
  const isSaid = (said: string) => said === only || isSameJson(said, json);
  return blocks.some((block) => block.type === 'text' && isSaid(block.text)) ? [] : [text(json)];
}

function isSameJson(candidate: string, json: string): boolean {
  try {
    return JSON.stringify(JSON.parse(candidate)) === json;
  } catch {
    // Prose, not JSON.
    return false;
  }
}
