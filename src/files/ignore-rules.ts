/**
 * Ignore files of a workspace: `.gitignore` and `.ignore`, each for its folder and below.
 *
 * Their patterns are untrusted and become regular expressions, so those that could take exponential time are left out.
 */
import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { isGauntletError } from '../base/errors.ts';
import { withCheckedFile } from './open-checked.ts';

/** Rules that apply in one folder: its own and those of the folders above. */
export interface IgnoreRules {
  /** Report whether an entry of this folder, or of one below without rules of its own, is ignored. */
  isIgnored(absolutePath: string, isFolder: boolean): boolean;
  /** Return the rules of a folder below, whose entries are `names`. */
  enter(folder: string, names: readonly string[]): Promise<IgnoreRules>;
}

const IGNORE_FILES = ['.gitignore', '.ignore'];
/** Upper bound of the stars in one pattern, so that it is cheap on the longest path. */
const MAX_STARS = 4;

interface FolderRules {
  readonly folder: string;
  readonly patterns: Ignore;
}

/**
 * Load the rules that apply in `root`, from the top of its repository down.
 *
 * @param root Absolute. If it is ignored itself, it was chosen explicitly, and rules from above do not apply.
 */
export async function ignoreRulesAbove(root: string, maxFileBytes: number): Promise<IgnoreRules> {
  const above: string[] = [];
  for (let folder = dirname(root); folder !== dirname(folder); folder = dirname(folder)) above.unshift(folder);
  const top = existsSync(join(root, '.git')) ? -1 : above.findLastIndex((folder) => existsSync(join(folder, '.git')));
  let rules = rulesOf([], maxFileBytes);
  if (top < 0) return rules;
  for (const folder of above.slice(top)) rules = await rules.enter(folder, IGNORE_FILES);
  return rules.isIgnored(root, true) ? rulesOf([], maxFileBytes) : rules;
}

function rulesOf(chain: readonly FolderRules[], maxFileBytes: number): IgnoreRules {
  const self: IgnoreRules = {
    isIgnored(path, isFolder) {
      // The nearest rule that matches decides.
      for (let at = chain.length - 1; at >= 0; at--) {
        const rules = chain[at];
        if (!rules) continue;
        const answer = rules.patterns.test(relative(rules.folder, path) + (isFolder ? '/' : ''));
        if (answer.ignored || answer.unignored) return answer.ignored;
      }
      return false;
    },
    async enter(folder, names) {
      const files = IGNORE_FILES.filter((name) => names.includes(name));
      const texts = await Promise.all(files.map((name) => readPatterns(join(folder, name), maxFileBytes)));
      const lines = texts.flatMap((text) => text.split(/\r?\n/)).filter((line) => !isCostly(line));
      if (lines.every((line) => line.trim() === '')) return self;
      return rulesOf([...chain, { folder, patterns: ignore().add(lines) }], maxFileBytes);
    },
  };
  return self;
}

async function readPatterns(path: string, maxBytes: number): Promise<string> {
  try {
    return await withCheckedFile(path, path, async (file) => (await file.readWhole(maxBytes)).toString());
  } catch (error) {
    // Missing, a link, a pipe, or unreadable: no rules, as in git.
    if (isGauntletError(error, 'tool_failed')) return '';
    throw error;
  }
}

function isCostly(line: string): boolean {
  return (
    line.replaceAll('**/', '').replaceAll('/**', '').split('*').length > MAX_STARS + 1 ||
    line.split('**').length > MAX_STARS + 1
  );
}
