/**
 * Decodes the body of a reply: finds its charset, and tells HTML, other text and everything else apart.
 */

/** Beginning of a page, in which it may declare its charset. */
const DECLARATION_BYTES = 1_024;

const META_CHARSET = /<meta\b[^>]{0,200}\bcharset\s{0,9}=\s{0,9}["']?\s{0,9}([\w.:-]{1,40})/i;
const XML_ENCODING = /^\s{0,9}<\?xml\b[^>]{0,200}\bencoding\s{0,9}=\s{0,9}["']([\w.:-]{1,40})/i;
const TEXT_TYPES =
  /^(text\/|application\/(.*\+)?(json|xml|yaml|toml|javascript|ecmascript|graphql|sql|x-sh|x-yaml|x-ndjson|ld\+json)$)/;
const HTML_TYPES = /^(text\/html|application\/xhtml\+xml)$/;
const HTML_BEGINNING = /^\s{0,999}(<!--|<!doctype html|<html|<head|<body|<title|<h1|<p>|<div)/i;
/** Types that servers send for files of unknown type. */
const UNKNOWN_TYPES = new Set(['', 'application/octet-stream', 'binary/octet-stream', 'application/unknown']);

/** Characters of 0x80 to 0x9f. @see https://encoding.spec.whatwg.org/windows-1252.html */
const WINDOWS_1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

/** A decoded body. */
export type PageContent =
  | { readonly kind: 'html' | 'text'; readonly text: string }
  /** Not text; `type` is for the message. */
  | { readonly kind: 'other'; readonly type: string };

/** Decode a body by its type or, if the type says nothing, by its first characters. */
export function readContent(body: Buffer, contentType: string): PageContent {
  const type = (contentType.split(';')[0] ?? '').trim().toLowerCase();
  const isUnknown = UNKNOWN_TYPES.has(type);
  if (!isUnknown && !TEXT_TYPES.test(type) && !HTML_TYPES.test(type)) return { kind: 'other', type };
  const charset = charsetOf(body, contentType);
  if (isUnknown && body.subarray(0, DECLARATION_BYTES).includes(0) && !charset.startsWith('utf-16')) {
    return { kind: 'other', type: type || 'binary data' };
  }
  const text = decode(body, charset);
  const isHtml = HTML_TYPES.test(type) || (isUnknown && HTML_BEGINNING.test(text));
  return { kind: isHtml ? 'html' : 'text', text };
}

function decode(body: Buffer, charset: string): string {
  const text = new TextDecoder(charset).decode(body);
  if (charset !== 'windows-1252') return text;
  // Node decodes it as Latin-1, which has control characters in place of the quotes and dashes of old pages.
  return text.replace(/[\x80-\x9f]/g, (character) => WINDOWS_1252[character.charCodeAt(0) - 0x80] ?? character);
}

/** Find the charset, by precedence: byte order mark, header, declaration in the page, UTF-8 if valid. */
function charsetOf(body: Buffer, contentType: string): string {
  const mark = byteOrderMark(body);
  if (mark !== undefined) return mark;
  const head = body.subarray(0, DECLARATION_BYTES).toString('latin1');
  const declared = [
    /\bcharset\s*=\s*["']?\s*([\w.:-]{1,40})/i.exec(contentType)?.[1],
    XML_ENCODING.exec(head)?.[1],
    META_CHARSET.exec(head)?.[1],
  ];
  const known = declared.find((label) => label !== undefined && isCharset(label));
  if (known !== undefined) {
    const name = new TextDecoder(known).encoding;
    // A page that declares "UTF-16" in ASCII is not written in UTF-16.
    return name.startsWith('utf-16') && known !== declared[0] ? 'utf-8' : name;
  }
  return isUtf8(body) ? 'utf-8' : 'windows-1252';
}

function byteOrderMark(body: Buffer): string | undefined {
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) return 'utf-8';
  if (body[0] === 0xfe && body[1] === 0xff) return 'utf-16be';
  return body[0] === 0xff && body[1] === 0xfe ? 'utf-16le' : undefined;
}

function isCharset(label: string): boolean {
  try {
    return new TextDecoder(label) instanceof TextDecoder;
  } catch {
    // An unknown name is ignored.
    return false;
  }
}

function isUtf8(body: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(body);
    return true;
  } catch {
    // Not UTF-8.
    return false;
  }
}
