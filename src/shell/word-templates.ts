/**
 * Possible texts of a word that is not literal, with placeholders where any text may follow, for matching against
 * rules.
 */
import { ANY_TEXT, ANY_WORDS } from './semantic-match.ts';
import type { ShellWord } from './word.ts';

/** Expansions, including substitutions with one nested level. */
const EXPANSION = /\$\((?:[^()]|\([^()]*\))*\)|`[^`]*`|\$\{[^}]*\}|\$(?:\w+|[@*#?!$-])/g;

/** Glob characters. A glob that begins with no word character selects files and cannot spell a rule's word. */
const GLOB = /[*?]|\[[^\]]*\]/g;

/** List the possible texts of a word, with placeholders for unknown parts. */
export function wordTemplates({ patterns, text, isSplit, isInteger }: ShellWord): readonly string[] {
  if (isInteger) return ['0'];
  if (patterns) return patterns.map((pattern) => (/^\w/.test(pattern) ? pattern.replace(GLOB, ANY_TEXT) : pattern));
  const marked = text.replace(EXPANSION, ANY_TEXT).replace(/["'\\]/g, '');
  const isBare = /[$`()]/.test(marked) || marked.replaceAll(ANY_TEXT, '') === '';
  if (isBare) return [isSplit ? ANY_WORDS : ANY_TEXT];
  return [marked];
}
