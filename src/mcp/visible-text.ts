/**
 * Text of strangers made safe to show: what cannot be seen is spelled out.
 *
 * A description can hide instructions from the person who reads it in characters that only a model sees.
 */

/** Most text is plain, and found to be so in a tenth of the time. */
const PLAIN = /^[\t\n\u0020-\u007e]*$/;

/** Control (but tab and line feed), format, lone surrogate, separators; the selectors that can hide bytes. */
const INVISIBLE = /(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u{e0100}-\u{e01ef}]/gu;

/**
 * Spell out control, bidi and other invisible characters as `\u{…}` and cut to `maxChars`.
 *
 * Carriage returns before line feeds are dropped first.
 */
export function visibleText(text: string, maxChars: number): string {
  if (text.length <= maxChars && PLAIN.test(text)) return text;
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
