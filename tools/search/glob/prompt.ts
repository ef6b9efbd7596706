/** What the model reads about Glob. */
import type { Limits } from '../../../config/limits.ts';

/** The words, with the numbers that hold on this server. */
export function globPrompt(limits: Limits): string {
  return `Finds files by name pattern, in code bases of any size.

- Patterns such as "**/*.js" or "src/**/*.{ts,tsx}": \`*\` and \`?\` stay within one name, \`**\` crosses folders, \`[a-z]\` and \`{a,b}\` work as usual. "*.ts" finds files in the folder itself only; use "**/*.ts" for all below.
- Answers with paths, the most recently changed first: ${limits.globResults} of them, then how many more there are.
- Files that .gitignore names and .git itself are left out; other hidden files are not. Links are not followed.
- To find files by their content, use Grep.
- Several searches that may be useful can be made at once, in one message: the calls run side by side.`;
}
