/**
 * The beginning of a JSON object, closed where it breaks off, so that it can be drawn while it streams in.
 */
import type { JsonObject, JsonValue } from '../contract/blocks.ts';

/**
 * Read what is there of an object.
 *
 * @param text Any prefix of the JSON of an object.
 * @param stringChars Longest string kept; longer ones are cut.
 * @returns The object as far as it goes; `{}` while nothing of it can be read.
 */
export function parsePartialObject(text: string, stringChars: number): JsonObject {
  for (const candidate of [closeOpen(text), closeOpen(withoutTail(text))]) {
    const value = tryParse(candidate);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return cutStrings(value, stringChars) as JsonObject;
  }
  return {};
}

/** Close the string and the brackets that are open at the end. */
function closeOpen(text: string): string {
  const { closers, isInString } = scan(text);
  const body = isInString ? `${withoutHalfEscape(text)}"` : text.replace(/[,\s]+$/, '');
  return body + closers.toReversed().join('');
}

/** Drop the last, unfinished member: a key without a value, or half a literal. */
function withoutTail(text: string): string {
  const { lastComma, lastOpener } = scan(text);
  return text.slice(0, Math.max(lastComma, lastOpener + 1));
}

function scan(text: string): { closers: string[]; isInString: boolean; lastComma: number; lastOpener: number } {
  const closers: string[] = [];
  let isInString = false;
  let lastComma = -1;
  let lastOpener = -1;
  for (let place = 0; place < text.length; place++) {
    const character = text[place];
    if (isInString) {
      if (character === '\\') place++;
      else if (character === '"') isInString = false;
    } else if (character === '"') isInString = true;
    else if (character === '{' || character === '[') {
      closers.push(character === '{' ? '}' : ']');
      lastOpener = place;
    } else if (character === '}' || character === ']') closers.pop();
    else if (character === ',') lastComma = place;
  }
  return { closers, isInString, lastComma, lastOpener };
}

/** A string that breaks off inside an escape loses the escape. */
function withoutHalfEscape(text: string): string {
  const half = /\\(?:u[0-9a-fA-F]{0,3})?$/.exec(text);
  if (!half) return text;
  const backslashes = /\\*$/.exec(text.slice(0, half.index))?.[0].length ?? 0;
  return backslashes % 2 === 0 ? text.slice(0, half.index) : text;
}

function tryParse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    // The text breaks off where no value can end; the caller tries a shorter one.
    return undefined;
  }
}

function cutStrings(value: JsonValue, chars: number): JsonValue {
  if (typeof value === 'string') return value.length > chars ? `${value.slice(0, chars)}…` : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => cutStrings(item, chars));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cutStrings(item, chars)]));
}
