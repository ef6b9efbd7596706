/** What the model reads about Grep. */
import type { Limits } from '../../../config/limits.ts';

/** The words, with the numbers that hold on this server. */
export function grepPrompt(limits: Limits): string {
  return `Searches file contents with ripgrep.

- Use this to search; do not run grep or rg with Bash. It knows which files may be read.
- \`pattern\` is a regular expression in ripgrep's syntax ("log.*Error", "function\\s+\\w+"). Literal braces need escaping: \`interface\\{\\}\` finds \`interface{}\` in Go.
- Narrow the files with \`glob\` ("*.js", "**/*.tsx") or \`type\` ("js", "py", "rust"); \`type\` is faster for common kinds.
- \`output_mode\`: "files_with_matches" (default) shows paths only, "content" matching lines (with -A, -B, -C, -n, -o), "count" how often each file matches.
- By default a pattern matches within one line; for patterns that span lines set \`multiline\`.
- The first ${limits.grepResults} lines or entries are shown; go on with \`offset\`, or set \`head_limit\` (0 shows all).
- Files that .gitignore names, .git itself and binary files are not searched; other hidden files are.`;
}
