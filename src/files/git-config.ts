/**
 * Parses git's configuration files: sections, sub-sections, quotes, escapes and continued lines.
 *
 * The parser is total and accepts no more than git does; it returns no settings for a text that it does not understand.
 */

/** One line of a configuration. */
export interface GitSetting {
  /** Section and key in lower case, the sub-section between them as written: `filter.LFS.clean`. */
  readonly name: string;
  /** Absent for a key without `=`, which git reads as true. */
  readonly value?: string;
}

const BLANK = /(?:[ \t\r\n]+|[#;][^\n]*)*/y;
const SECTION = /\[([A-Za-z\d.-]+)(?:\]|[ \t\r]+"((?:[^"\\\n]|\\[^\n])*)"\])/y;
const KEY = /([A-Za-z][A-Za-z\d-]*)[ \t]*/y;
const LINE_END = /\r?\n/y;

const ESCAPES: Readonly<Record<string, string>> = { t: '\t', b: '\b', n: '\n', '"': '"', '\\': '\\' };

/**
 * Parse a configuration file.
 *
 * @returns Settings in order, or undefined if git would refuse the file or versions of git differ.
 */
export function parseGitConfig(text: string): readonly GitSetting[] | undefined {
  // Git's strings end at a NUL, unlike those of JavaScript.
  if (text.includes('\0')) return undefined;
  const settings: GitSetting[] = [];
  let section: string | undefined;
  let at = text.startsWith('\uFEFF') ? 1 : 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) at = pattern.lastIndex;
    return match;
  };

  for (;;) {
    take(BLANK);
    if (at >= text.length) return settings;
    const header = take(SECTION);
    if (header) {
      const [, base = '', subsection] = header;
      section = base.toLowerCase() + (subsection === undefined ? '' : `.${subsection.replace(/\\(.)/gs, '$1')}`);
      continue;
    }
    const key = take(KEY)?.[1];
    if (key === undefined || section === undefined) return undefined;
    const name = `${section}.${key.toLowerCase()}`;
    if (at >= text.length || take(LINE_END)) {
      settings.push({ name });
      continue;
    }
    if (text[at] !== '=') return undefined;
    const parsed = parseValue(text, at + 1);
    if (!parsed) return undefined;
    settings.push({ name, value: parsed.value });
    at = parsed.end;
  }
}

/** @param start Position after the `=`. @returns The value, and the end of its line. */
function parseValue(text: string, start: number): { readonly value: string; readonly end: number } | undefined {
  let value = '';
  let blanks = '';
  let isQuoted = false;
  for (let at = start; ; at++) {
    let character = text[at] ?? '\n';
    if (character === '\r' && text[at + 1] === '\n') character = text[++at] ?? '\n';
    if (character === '\n') return isQuoted ? undefined : { value, end: at };
    if (!isQuoted && (character === '#' || character === ';')) {
      const end = text.indexOf('\n', at);
      return { value, end: end < 0 ? text.length : end };
    }
    if (!isQuoted && /[ \t\r]/.test(character)) {
      if (value !== '') blanks += character;
      continue;
    }
    // Versions of git differ on whether a tab inside a value becomes a blank.
    if (/[^ ]/.test(blanks)) return undefined;
    value += blanks;
    blanks = '';
    if (character === '"') isQuoted = !isQuoted;
    else if (character !== '\\') value += character;
    else {
      const escaped = text[++at];
      if (escaped === '\n') continue;
      if (escaped === '\r' && text[at + 1] === '\n') at++;
      else if (escaped !== undefined && Object.hasOwn(ESCAPES, escaped)) value += ESCAPES[escaped] ?? '';
      else return undefined;
    }
  }
}
