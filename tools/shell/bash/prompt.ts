/** What the model reads about Bash. */
import type { Limits } from '../../../config/limits.ts';

/** The words, with the numbers that hold on this server. */
export function bashPrompt(limits: Limits): string {
  return `Runs a command line with bash and answers with its output.

- The working directory carries over to the next call when the command succeeds; variables, functions and aliases do not. Leaving the workspace resets it, and the answer says so.
- There is no terminal and no start-up file is read; stdin is empty, so give flags that avoid questions (\`--yes\`, \`--no-pager\`).
- Put paths with blanks in double quotes. Prefer absolute paths to \`cd\`.
- A command may take ${limits.commandMs} ms; set \`timeout\` for up to ${limits.commandMostMs} ms. What runs longer is ended with everything it started.
- Set \`run_in_background\` for servers, watchers and long jobs: the call answers at once with a task id for TaskOutput and TaskStop. Do not add \`&\`: what a command leaves running is ended with it.
- Use Read, Edit, Write, Glob and Grep for files rather than cat, sed, echo, find and grep.
- Commands that only read run side by side: send independent ones in one message. Join dependent ones with \`&&\`.
- A command that fails ends the calls beside it in the same message.
- Exit codes that mean "no match" (grep, diff, test) are not failures, and the answer says so.`;
}
