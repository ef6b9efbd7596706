/**
 * Converts a server's answer into content blocks for a model.
 */
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client';
import { isDeepStrictEqual } from 'node:util';
import type { Limits } from '../../config/limits.ts';
import type { ResultContentBlock } from '../wire/blocks.ts';
import { GauntletError } from '../base/errors.ts';
import { isTooDeep, type JsonObject, MAX_JSON_DEPTH } from '../base/json.ts';
import { visibleLine, visibleText } from './visible-text.ts';

/** Result of a call to an MCP tool. */
export interface McpOutput {
  /** Blocks for a model. */
  readonly content: readonly ResultContentBlock[];
  /** True for a failed call whose answer is more than text. */
  readonly isError?: boolean;
  /** The answer as it came, where `content` leaves parts of it out. */
  readonly whole?: JsonObject;
}

/** Largest answer that is kept as it came, in characters of JSON. */
const MAX_WHOLE_CHARS = 1_024 * 1_024;

/** Largest blob that is read as text. */
const MAX_TEXT_BLOB_CHARS = 4 * 1_024 * 1_024;

/** Media types of texts, apart from `text/…`. */
const TEXT_TYPE =
  /^application\/(?:json|xml|yaml|x-yaml|toml|javascript|x-sh|sql|graphql|(?:[\w.-]+\+(?:json|xml|yaml)))$/;

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
 * @throws {GauntletError} `tool_failed` with the server's text if it reports a failed call by text alone.
 */
export function toOutput(result: CallToolResult, limits: Pick<Limits, 'resultChars'>): McpOutput {
  if (isTooDeep(result)) {
    throw new GauntletError('tool_failed', `The result is nested deeper than ${MAX_JSON_DEPTH} levels and was dropped`);
  }
  const sent = result.content ?? [];
  const blocks = sent.map(toBlock);
  const whole = wholeOf(result, sent);
  const isError = result.isError === true;
  if (isError && whole === undefined && blocks.every(({ type }) => type === 'text')) {
    throw new GauntletError('tool_failed', errorText(blocks, limits.resultChars));
  }
  return {
    content: [...blocks, ...structuredBlocks(result.structuredContent, sent)],
    ...(isError && { isError }),
    ...(whole && { whole }),
  };
}

/** Return the answer as it came; undefined if the blocks for the model are all of it, or if it is too large. */
function wholeOf(result: CallToolResult, sent: readonly ContentBlock[]): JsonObject | undefined {
  const { content, structuredContent, _meta, isError } = result;
  const isPlain = sent.every((block) => isShownWhole(block) && Object.keys(block).length === PLAIN_MEMBERS[block.type]);
  if (isPlain && structuredContent === undefined && _meta === undefined) return undefined;
  const whole = { content, structuredContent, _meta, isError };
  const json = JSON.stringify(whole);
  return json.length > MAX_WHOLE_CHARS ? { omitted_chars: json.length } : (JSON.parse(json) as JsonObject);
}

/** Members of blocks without annotations. */
const PLAIN_MEMBERS: Readonly<Record<string, number>> = { text: 2, image: 3 };

function isShownWhole(block: ContentBlock): boolean {
  return block.type === 'text' || (block.type === 'image' && IMAGE_TYPES.has(block.mimeType));
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
      const decoded = textOfBlob(resource.blob, resource.mimeType);
      if (decoded !== undefined) return text(`[${label}]\n${decoded}`);
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

/** Decode a blob that is UTF-8 text by its type, or that has no type and no control characters. */
function textOfBlob(blob: string, mediaType: string | undefined): string | undefined {
  const type = mediaType?.split(';', 1)[0]?.trim().toLowerCase();
  const mayBeText = type === undefined || type.startsWith('text/') || TEXT_TYPE.test(type);
  if (!mayBeText || blob.length > MAX_TEXT_BLOB_CHARS || !isBase64(blob)) return undefined;
  try {
    const decoded = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(blob, 'base64'));
    return type === undefined && CONTROL.test(decoded) ? undefined : decoded;
  } catch {
    // The bytes are no UTF-8.
    return undefined;
  }
}

/** Characters that texts do not have. */
const CONTROL = /[\u0000-\u0008\u000e-\u001f]/;

/** Return the structured answer as text, unless the blocks say the same. */
function structuredBlocks(structured: unknown, sent: readonly ContentBlock[]): readonly ResultContentBlock[] {
  if (structured === undefined) return [];
  // Servers that must answer with an object wrap their only value in one.
  const members = typeof structured === 'object' && structured !== null ? Object.values(structured) : [];
  const only: unknown = members.length === 1 ? members[0] : undefined;
  const texts = sent.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  const isSaid =
    texts.some((candidate) => candidate === only || isSameJson(candidate, structured)) ||
    (only !== undefined && (only === texts.join('\n') || isDeepStrictEqual(only, sent)));
  return isSaid ? [] : [text(JSON.stringify(withoutRepeats(structured, sent)))];
}

/** Replace the bytes of images and the like that a block has, too. */
function withoutRepeats(structured: unknown, sent: readonly ContentBlock[]): unknown {
  const shown = new Set(sent.flatMap((block) => ('data' in block ? [block.data] : [])));
  if (shown.size === 0) return structured;
  return JSON.parse(
    JSON.stringify(structured, (_key, value: unknown) =>
      typeof value === 'string' && shown.has(value) ? '[shown above]' : value,
    ),
  );
}

function isSameJson(candidate: string, structured: unknown): boolean {
  if (!/^\s*[[{"\d-]|^(?:true|false|null)$/.test(candidate)) return false;
  try {
    return isDeepStrictEqual(JSON.parse(candidate), JSON.parse(JSON.stringify(structured)));
  } catch {
    // Prose, not JSON.
    return false;
  }
}
