/**
 * Text of strangers made safe to show: what cannot be seen is spelled out.
 *
 * A description can hide instructions from the person who reads it in characters that only a model sees.
 */

// What each range holds stands beside it; written as a string, for a literal may not hold control characters.
const INVISIBLE = new RegExp(
  `[${[
    '\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f', // control characters but tab and line feed
    '\\u00ad\\u180e\\u200b-\\u200d\\u2060-\\u2065\\ufeff', // soft hyphen, zero width, invisible operators
    '\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u206f', // writing direction
    '\\u2028\\u2029\\ufff9-\\ufffb', // separators, annotations
    '\\u{e0000}-\\u{e01ef}', // tags and supplementary variation selectors
    '\\p{Surrogate}',
  ].join('')}]`,
  'gu',
);

/**
 * Spell out control, bidi and other invisible characters as `\u{…}` and cut to `maxChars`.
 *
 * Carriage returns before line feeds are dropped first.
 */
export function visibleText(text: string, maxChars: number): string {
  const visible = text
    .slice(0, maxChars)
    .replaceAll('\r\n', '\n')
    .replace(INVISIBLE, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
  return text.length <= maxChars && visible.length <= maxChars ? visible : `${visible.slice(0, maxChars - 1)}…`;
}

/** The same on one line. */
export function visibleLine(text: string, maxChars: number): string {
  return visibleText(text.replace(/\s+/g, ' ').trim(), maxChars);
}
