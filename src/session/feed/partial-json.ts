/**
 * The beginning of a JSON object, closed where it breaks off, so that it can be drawn while it streams in.
 *
 * Every step goes through the text once: it is read again with each piece that arrives.
 */
import { cutText } from '../../base/cut-text.ts';
import { type JsonObject, type JsonValue, unsafeJson } from '../../base/json.ts';

/** How much of an object is kept. */
export interface PartialBounds {
  /** Longest string; longer ones are cut. */
  readonly partialStringChars: number;
  /** Most levels of objects and lists. */
  readonly jsonDepth: number;
}

/**
 * Read what is there of an object.
 *
 * @param text Any prefix of the JSON of an object.
 * @returns The object as far as it goes; `{}` while nothing of it can be read, or it may not be.
 */
export function parsePartialObject(text: string, bounds: PartialBounds): JsonObject {
  const whole = scan(text);
  if (whole.depth > bounds.jsonDepth) return {};
  const value = tryParse(closeOpen(text, whole)) ?? tryParse(withoutTail(text, whole));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
  return unsafeJson(value, bounds) ? {} : (cutStrings(value, bounds.partialStringChars) as JsonObject);
}

interface Scan {
  /** What would close the brackets that are open at the end, the outermost first. */
  readonly closers: readonly string[];
  /** Most brackets open at once. */
  readonly depth: number;
  readonly isInString: boolean;
  /** Where an escape begins that breaks off; the end of the text if none does. */
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

/** Close the string and the brackets that are open at the end. */
function closeOpen(text: string, { closers, isInString, wholeUntil }: Scan): string {
  const body = isInString ? `${text.slice(0, wholeUntil)}"` : text.slice(0, endOfMembers(text));
  return body + closers.toReversed().join('');
}

/** The same without the last, unfinished member: a key without a value, or half a literal. */
function withoutTail(text: string, { lastComma, lastOpener }: Scan): string {
  const shorter = text.slice(0, Math.max(lastComma, lastOpener + 1));
  return closeOpen(shorter, scan(shorter));
}

/** Where trailing blanks and commas begin. */
function endOfMembers(text: string): number {
  let end = text.length;
  while (end > 0 && ', \t\r\n'.includes(text[end - 1] ?? '')) end--;
  return end;
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
  if (typeof value === 'string') return value.length > chars ? `${cutText(value, chars)}…` : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => cutStrings(item, chars));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cutStrings(item, chars)]));
}
