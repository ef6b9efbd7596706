/**
 * Parses an incomplete JSON object, closed at the point where it breaks off, so that it can be displayed while it
 * streams.
 *
 * Each step is linear in the text, which is read again with each piece that arrives.
 */
import { cutText } from '../../base/cut-text.ts';
import { type JsonObject, type JsonValue, MAX_JSON_DEPTH, unsafeJson } from '../../base/json.ts';

/** Longest string of a partial input; longer ones are cut, since they only are to be drawn. */
const MAX_STRING_CHARS = 2_000;

/**
 * Parse the beginning of an object.
 *
 * @param text Any prefix of the JSON of an object.
 * @returns The members so far; `{}` if none is readable, or the value is not safe.
 */
export function parsePartialObject(text: string): JsonObject {
  const whole = scan(text);
  if (whole.depth > MAX_JSON_DEPTH) return {};
  const value = tryParse(closeOpen(text, whole)) ?? tryParse(withoutTail(text, whole));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
  return unsafeJson(value) ? {} : (cutStrings(value, MAX_STRING_CHARS) as JsonObject);
}

interface Scan {
  /** Brackets that would close the open ones, outermost first. */
  readonly closers: readonly string[];
  /** Maximum of brackets open at once. */
  readonly depth: number;
  readonly isInString: boolean;
  /** Start of an incomplete escape at the end; the length of the text if there is none. */
  readonly wholeUntil: number;
  readonly lastComma: number;
  readonly lastOpener: number;
}

function scan(text: string): Scan {
  const closers: string[] = [];
  let [depth, isInString, lastComma, lastOpener] = [0, false, -1, -1];
  for (let place = 0; place < text.length; place++) {
    const character = text[place];
    if (isInString && character === '\\') {
      const escaped = text[place + 1] === 'u' ? 5 : 1;
      if (place + escaped >= text.length)
        return { closers, depth, isInString, wholeUntil: place, lastComma, lastOpener };
      place += escaped;
    } else if (character === '"') isInString = !isInString;
    else if (isInString) continue;
    else if (character === '{' || character === '[') {
      depth = Math.max(depth, closers.push(character === '{' ? '}' : ']'));
      lastOpener = place;
    } else if (character === '}' || character === ']') closers.pop();
    else if (character === ',') lastComma = place;
  }
  return { closers, depth, isInString, wholeUntil: text.length, lastComma, lastOpener };
}

/** Close the open string and brackets. */
function closeOpen(text: string, { closers, isInString, wholeUntil }: Scan): string {
  const body = isInString ? `${text.slice(0, wholeUntil)}"` : text.slice(0, endOfMembers(text));
  return body + closers.toReversed().join('');
}

/** Close the text without its last, incomplete member: a key without a value, or a partial literal. */
function withoutTail(text: string, { lastComma, lastOpener }: Scan): string {
  const shorter = text.slice(0, Math.max(lastComma, lastOpener + 1));
  return closeOpen(shorter, scan(shorter));
}

/** Index at which trailing whitespace and commas begin. */
function endOfMembers(text: string): number {
  let end = text.length;
  while (end > 0 && ', \t\r\n'.includes(text[end - 1] ?? '')) end--;
  return end;
}

function tryParse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    // No value can end where the text breaks off; the caller tries a shorter one.
    return undefined;
  }
}

function cutStrings(value: JsonValue, chars: number): JsonValue {
  if (typeof value === 'string') return value.length > chars ? `${cutText(value, chars)}…` : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => cutStrings(item, chars));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cutStrings(item, chars)]));
}
