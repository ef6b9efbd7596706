/**
 * Front matter of a Markdown file: YAML between two lines `---` at its beginning. Loads a parser, so import it lazily.
 */
import { parse } from 'yaml';

const FRONT_MATTER = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n([\s\S]*))?$/;

/** Part a file. `body` is what stands behind the front matter. @throws {Error} Where there is none, or it is no YAML. */
export function parseFrontMatter(text: string): { readonly data: unknown; readonly body: string } {
  const [, head, body = ''] = FRONT_MATTER.exec(text) ?? [];
  if (head === undefined) throw new Error('it does not begin with front matter between two lines "---"');
  // An alias can stand for a thousand others.
  return { data: parse(head, { schema: 'core', maxAliasCount: 0, uniqueKeys: true }), body };
}
