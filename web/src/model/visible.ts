/**
 * Makes hostile text plain: characters that reorder or hide text are shown by their numbers, and long lines are cut.
 */

/**
 * Control, direction, invisible and tag characters. The joiners U+200C and U+200D stay: scripts and emoji need them,
 * and they neither reorder nor hide anything.
 */
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]|[\ud800-\udfff](?![\udc00-\udfff])(?<![\ud800-\udbff][\udc00-\udfff])/gu;

/** Characters of one line that are drawn before somebody asks for more. */
export const MAX_LINE_CHARS = 2_000;

/** Replace characters that nobody can see by their numbers, as `⟨U+202E⟩`. Tabs and line feeds stay. */
export function visible(text: string): string {
  const plain = text.includes('\r\n') ? text.replaceAll('\r\n', '\n') : text;
  return plain.replace(HIDDEN, codeOf);
}

/** The same for text of one line. */
export function visibleLine(text: string): string {
  return visible(text.slice(0, MAX_LINE_CHARS)).replaceAll('\n', ' ⏎ ');
}

/** Cut text for drawing. @returns The text as far as it is drawn, and how much is missing. */
export function cutText(text: string, maxChars: number, maxLines: number): { shown: string; leftChars: number } {
  let end = Math.min(text.length, maxChars);
  let lineStart = 0;
  for (let lines = 0; lines < maxLines; lines++) {
    const next = text.indexOf('\n', lineStart);
    const lineEnd = next < 0 ? text.length : next;
    // A line that is too long ends what is drawn.
    if (lineEnd - lineStart > MAX_LINE_CHARS) end = Math.min(end, lineStart + MAX_LINE_CHARS);
    if (next < 0 || next >= end) return cutAt(text, end);
    lineStart = next + 1;
  }
  return cutAt(text, Math.min(end, lineStart));
}

function cutAt(text: string, wanted: number): { shown: string; leftChars: number } {
  const isInsidePair = wanted < text.length && /[\ud800-\udbff]/.test(text[wanted - 1] ?? '');
  const end = isInsidePair ? wanted - 1 : wanted;
  return { shown: text.slice(0, end), leftChars: text.length - end };
}

function codeOf(character: string): string {
  return `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;
}
