/**
 * Characters nobody can see, or that change how others are seen: refused in paths, written out in names.
 */

/** Control, format (bidi, zero-width, tags), lone surrogate, line and paragraph separator. */
const HIDDEN_CHARACTER = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
const HIDDEN_CHARACTERS = new RegExp(HIDDEN_CHARACTER, 'gu');

/** Whether a text holds such a character. */
export function hasHiddenCharacters(text: string): boolean {
  return HIDDEN_CHARACTER.test(text);
}

/** A name or path with its invisible characters escaped, so that a person sees what it is. One line. */
export function showText(text: string): string {
  return text.replace(HIDDEN_CHARACTERS, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/** The same for a field of an input that may still be missing or of another type. */
export function showValue(value: unknown, otherwise: string): string {
  return typeof value === 'string' && value !== '' ? showText(value) : otherwise;
}
