/** What the model reads about Bash. */
import type { Limits } from '../../../config/limits.ts';
import type { Sandbox } from '../../../src/process/sandbox.ts';
import type { ShellToolServices } from '../services.ts';

type PromptServices = Pick<ShellToolServices, 'limits' | 'sandbox' | 'siblingAbort'>;

const SIBLINGS = {
  bash: '- A command that fails ends the calls beside it in the same message.',
  'mutating-bash': '- A command that may change something and fails ends the calls beside it in the same message.',
  never: '- A command that fails ends no other call of the same message.',
} as const;

/** The words, with the numbers that hold on this server. */
export function bashPrompt({ limits, sandbox, siblingAbort = 'bash' }: PromptServices): string {
  return `Runs a command line with bash and answers with its output.

- The working directory carries over to the next call when the command succeeds; variables, functions and aliases do not. Leaving the workspace resets it, and the answer says so.
- There is no terminal and no start-up file is read; stdin is empty, so give flags that avoid questions (\`--yes\`, \`--no-pager\`).
- Put paths with blanks in double quotes. Prefer absolute paths to \`cd\`.
- A command may take ${limits.commandMs} ms; set \`timeout\` for up to ${limits.commandMostMs} ms. What runs longer is ended with everything it started.
- Set \`run_in_background\` for servers, watchers and long jobs: the call answers at once with a task id for TaskOutput and TaskStop. Do not add \`&\`: what a command leaves running is ended with it.
- Use Read, Edit, Write, Glob and Grep for files rather than cat, sed, echo, find and grep.
- Commands that only read run side by side: send independent ones in one message. Join dependent ones with \`&&\`.
${SIBLINGS[siblingAbort]}
- Exit codes that mean "no match" (grep, diff, test) are not failures, and the answer says so.${sandbox === undefined ? '' : sandboxPrompt(sandbox, limits)}`;
}

function sandboxPrompt({ network, isRequired }: Sandbox, limits: Limits): string {
  return `
- Commands run in a sandbox: they can write to the working directories and to /tmp, which is empty at each call, and nowhere else; keys and passwords are hidden, git's hooks and settings are read-only${networkPrompt(network, limits)}.
- ${isRequired ? 'What the sandbox forbids cannot be had.' : 'When the sandbox forbids what the task needs, call again with `dangerouslyDisableSandbox`; a person is asked.'}`;
}

function networkPrompt(network: Sandbox['network'], { sandboxProxyHostsTold }: Limits): string {
  if (network === 'on') return '';
  if (network === 'off' || network.length === 0) return ', and there is no network';
  const hosts = [
    ...network.slice(0, sandboxProxyHostsTold),
    ...(network.length > sandboxProxyHostsTold ? ['others'] : []),
  ];
  return `, and the network reaches these hosts alone, over HTTP and HTTPS: ${hosts.join(', ')}`;
}
