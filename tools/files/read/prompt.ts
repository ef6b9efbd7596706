/** What the model reads about Read. */
import type { Limits } from '../../../config/limits.ts';

/** The words, with the numbers that hold on this server. */
export function readPrompt(limits: Limits): string {
  return `Reads a file from the local file system.

- \`file_path\` may be absolute or relative to the working directory; absolute is safer.
- By default it shows up to ${limits.readLines} lines from the start of the file. Each line is shown as in \`cat -n\`: its number, a tab, its text. The number and the tab are not part of the file.
- A file too large for one page ends with a PARTIAL notice that names the \`offset\` to go on with. Use \`offset\` and \`limit\` only for such files; otherwise read the whole file.
- Lines longer than ${limits.readLineChars} characters are cut, with a note saying so.
- It can show images (PNG, JPEG, GIF, WebP): they are presented visually.
- It can read PDF files (.pdf), as text page by page: use \`pages\` ("1-5") for long ones, at most ${limits.pdfPages} pages at once.
- It can read Jupyter notebooks (.ipynb): all cells with their outputs. There, \`offset\` and \`limit\` count cells.
- It reads files only; to list a folder, use Glob, or \`ls\` with Bash.
- A file must be read before it can be edited or overwritten.
- Read several files that may be useful at once, in one message: the calls run side by side.
- A file that exists but is empty is answered with a notice instead of its content.`;
}
