/** What the model reads about Write. */

/** The words. */
export const WRITE_PROMPT = `Writes a file to the local file system, whole.

- Missing parent folders are created.
- An existing file is overwritten, but only if all of it was read with Read in this session and it has not changed since; otherwise the call is refused.
- To change part of a file, use Edit: it sends only what changes. Write is for new files and complete rewrites.
- \`content\` becomes the file exactly as it is given.
- Do not create documentation files (*.md, README) unless asked to.
- The answer shows what changed in an existing file as a diff.`;
