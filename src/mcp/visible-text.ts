/**
 * Makes untrusted text safe to display by spelling out invisible characters.
 *
 * A description can hide instructions from its reader in characters that only a model sees.
 */

/** Fast path: most text is plain ASCII, and recognised as such in a tenth of the time. */
const PLAIN = /^[\t\n\u0020-\u007e]*$/;

/**
 * Control (except tab and line feed) and format characters, lone surrogates, separators, and the variation selectors
 * that can encode bytes.
 */
const INVISIBLE = /(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u{e0100}-\u{e01ef}]/gu;

/**
 * Spell out control, bidi and other invisible characters as `\u{…}` and cut to `maxChars`.
 *
 * CRLF becomes LF first.
 */
export function visibleText(text: string, maxChars: number): string {
  if (text.length <= maxChars && PLAIN.test(text)) return text;
  const visible = text
    .slice(0, maxChars)
    .replaceAll('\r\n', '\n')
    .replace(INVISIBLE, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
  return text.length <= maxChars && visible.length <= maxChars ? visible : `${visible.slice(0, maxChars - 1)}…`;
}

/** As `visibleText`, on one line. */
export function visibleLine(text: string, maxChars: number): string {
  return visibleText(text.replace(/\s+/g, ' ').trim(), maxChars);
}
