/** A word that is not written out, with what may be any text marked: what a rule might turn out to mean. */
import { ANY_TEXT, ANY_WORDS } from './meant-specs.ts';
import type { ShellWord } from './word.ts';

/** Expansions, substitutions with one more inside among them. */
const EXPANSION = /\$\((?:[^()]|\([^()]*\))*\)|`[^`]*`|\$\{[^}]*\}|\$(?:\w+|[@*#?!$-])/g;

/** What finds files; one that spells no letter is about files and not about the rule. */
const GLOB = /[*?]|\[[^\]]*\]/g;

/** The texts a word may be, marks in them. */
export function openTexts({ patterns, text, isSplit, isInteger }: ShellWord): readonly string[] {
  if (isInteger) return ['0'];
  if (patterns) return patterns.map((pattern) => (/^\w/.test(pattern) ? pattern.replace(GLOB, ANY_TEXT) : pattern));
  const marked = text.replace(EXPANSION, ANY_TEXT).replace(/["'\\]/g, '');
  const isBare = /[$`()]/.test(marked) || marked.replaceAll(ANY_TEXT, '') === '';
  if (isBare) return [isSplit ? ANY_WORDS : ANY_TEXT];
  return [marked];
}
