/** Brace expansion of the plain kinds: `{a,b}` and `{1..5}`. */

const MAX_WORDS = 64;

/**
 * What one brace stands for.
 *
 * @param text The brace as written, `{` and `}` included.
 * @returns The texts in order; undefined for nesting, quotes, expansions, and more than 64 words.
 */
export function expandBrace(text: string): readonly string[] | undefined {
  const inner = text.slice(1, -1);
  if (!text.startsWith('{') || !text.endsWith('}') || /[{}'"\\$`*?[\]~<>()]/.test(inner)) return undefined;
  const range = /^(-?\d{1,9}|[A-Za-z])\.\.(-?\d{1,9}|[A-Za-z])(?:\.\.(-?\d{1,9}))?$/.exec(inner);
  if (range) return expandRange(range[1] ?? '', range[2] ?? '', range[3]);
  if (!inner.includes(',')) return undefined;
  const words = inner.split(',');
  return words.length > MAX_WORDS ? undefined : words;
}

function expandRange(first: string, last: string, step: string | undefined): readonly string[] | undefined {
  const isLetters = /[A-Za-z]/.test(first);
  if (isLetters !== /[A-Za-z]/.test(last)) return undefined;
  const from = isLetters ? first.charCodeAt(0) : Number(first);
  const to = isLetters ? last.charCodeAt(0) : Number(last);
  // Letters of both cases run through punctuation that is special to the shell.
  if (isLetters && from < 97 !== to < 97) return undefined;
  const stride = Math.max(1, Math.abs(Number(step ?? 1)));
  const count = Math.floor(Math.abs(to - from) / stride) + 1;
  if (count > MAX_WORDS) return undefined;
  const direction = to < from ? -stride : stride;
  const width = [first, last].some((end) => /^-?0\d/.test(end)) ? Math.max(first.length, last.length) : 0;
  return Array.from({ length: count }, (_, index) => {
    const value = from + index * direction;
    return isLetters ? String.fromCharCode(value) : String(value).padStart(width, '0');
  });
}
