/**
 * Texts of the server on a terminal: what a model, a tool or a file says must not move the cursor or hide anything.
 */
import { stripVTControlCharacters } from 'node:util';

/** Control characters but tab and line feed, format characters such as those of direction, and lone surrogates. */
const UNSAFE = /(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Remove escape sequences, and spell out other characters that a terminal would act on. */
export function safeText(text: string): string {
  return exactText(stripVTControlCharacters(text.replace(/\r\n?/g, '\n')));
}

/**
 * Spell out characters that a terminal would act on, and remove nothing: for what a person decides about. An escape
 * sequence can hold the words of a command.
 */
export function exactText(text: string): string {
  return text.replace(UNSAFE, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/** Write a value as one line of JSON that a terminal can show. */
export function safeJson(value: unknown): string {
  return JSON.stringify(value).replace(UNSAFE, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

/** As `safeText`, on one line of at most `maxChars`. */
export function safeLine(text: string, maxChars = 200): string {
  const line = safeText(text).replace(/\s+/g, ' ').trim();
  return line.length <= maxChars ? line : `${line.slice(0, maxChars - 1)}…`;
}

/** Lay out a table; the last column keeps its width. */
export function tableText(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [columns, ...rows.map((row) => row.map((cell) => safeLine(cell)))];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => line[index]?.length ?? 0)));
  return lines
    .map((line) => line.map((cell, index) => (index === line.length - 1 ? cell : cell.padEnd(widths[index] ?? 0))))
    .map((cells) => `${cells.join('  ').trimEnd()}\n`)
    .join('');
}
