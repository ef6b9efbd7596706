/**
 * Invisible characters, and those that change how others are displayed: rejected in paths, escaped in names.
 */

/** Control, format (bidi, zero-width, tags), lone surrogate, line and paragraph separator. */
const HIDDEN_CHARACTER = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
const HIDDEN_CHARACTERS = new RegExp(HIDDEN_CHARACTER, 'gu');

/** True if a text contains such a character. */
export function hasHiddenCharacters(text: string): boolean {
  return HIDDEN_CHARACTER.test(text);
}

/** Escape invisible characters in a name or path, so that it displays on one line as it is. */
export function showText(text: string): string {
  return text.replace(HIDDEN_CHARACTERS, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/** As `showText`, for an input's field that may still be missing or of another type. */
export function showValue(value: unknown, otherwise: string): string {
  return typeof value === 'string' && value !== '' ? showText(value) : otherwise;
}
