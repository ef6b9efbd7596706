/**
 * Converts a server's answer into content blocks for a model.
 */
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client';
import type { Limits } from '../../config/limits.ts';
import type { ResultContentBlock } from '../wire/blocks.ts';
import { GauntletError } from '../base/errors.ts';
import { isTooDeep, MAX_JSON_DEPTH } from '../base/json.ts';
import { visibleLine, visibleText } from './visible-text.ts';

/** Result of a call to an MCP tool. */
export interface McpOutput {
  readonly content: readonly ResultContentBlock[];
}

/** Media types that the model APIs accept as images. */
const IMAGE_TYPES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/**
 * Characters that base64 excludes. Padding is checked apart: one expression for both would backtrack quadratically on a
 * run of blanks.
 */
const NON_BASE64 = /[^A-Za-z0-9+/=\s]/;
const PADDING = /^={1,2}\s*$/;

/** Longest name, title or address within text that we generate. */
const LABEL_CHARS = 1_000;

/**
 * Convert a server's answer into blocks.
 *
 * @throws {GauntletError} `tool_failed` with the server's text if it reports a failed call.
 */
export function toOutput(result: CallToolResult, limits: Pick<Limits, 'resultChars'>): McpOutput {
  if (isTooDeep(result)) {
    throw new GauntletError('tool_failed', `The result is nested deeper than ${MAX_JSON_DEPTH} levels and was dropped`);
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

/** Return an image or a PDF as a block of its kind; anything else becomes a note, since a model cannot read it. */
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
  return !NON_BASE64.test(data) && (padding < 0 || PADDING.test(data.slice(padding)));
}

/** Return the structured answer as text, unless a text block already has the same content. */
function structuredBlocks(structured: unknown, blocks: readonly ResultContentBlock[]): readonly ResultContentBlock[] {
  if (structured === undefined) return [];
  const json = JSON.stringify(structured);
  // Servers that must answer with an object wrap their only text in one.
  const members = typeof structured === 'object' && structured !== null ? Object.values(structured) : [];
  const only: unknown = members.length === 1 ? members[0] : undefined;
  const isSameContent = (candidate: string) => candidate === only || isSameJson(candidate, json);
  return blocks.some((block) => block.type === 'text' && isSameContent(block.text)) ? [] : [text(json)];
}

function isSameJson(candidate: string, json: string): boolean {
  try {
    return JSON.stringify(JSON.parse(candidate)) === json;
  } catch {
    // Prose, not JSON.
    return false;
  }
}
