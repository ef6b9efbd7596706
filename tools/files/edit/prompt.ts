/** What the model reads about Edit. */

/** The words. */
export const EDIT_PROMPT = `Replaces exact text in a file.

- Read the file with Read first, in this session; an edit of a file that was not read, or that changed since, is refused.
- \`old_string\` must match the file exactly, blanks and indentation included. Read shows each line as its number, a tab, its text: copy only what follows the tab, never the number or the tab.
- \`old_string\` must occur exactly once; if it does not, the edit is refused and says how often it occurs. Give more of the surrounding lines to make it unique, or set \`replace_all\` to change every occurrence, as when renaming.
- \`new_string\` must differ from \`old_string\`. An empty \`new_string\` deletes.
- An empty \`old_string\` creates a new file with \`new_string\` as its content; the file must not exist.
- Byte order mark, line ends and mode of the file are kept: write \\n, also for files with Windows line ends.
- Prefer editing existing files to writing new ones.
- The answer shows what changed as a diff.`;
