/** Bash: runs a command line. */
import { showText, showValue } from '../../../src/base/hidden-characters.ts';
import { shownHead } from '../../../src/files/shown-head.ts';
import type { Sandbox } from '../../../src/process/sandbox.ts';
import { buildTool } from '../../../src/tool/build-tool.ts';
import type { ToolProgress } from '../../../src/tool/tool.ts';
import type { Display, DisplayBlock } from '../../../src/wire/display.ts';
import type { ShellToolServices } from '../services.ts';
import { prepareHold } from './enclosed.ts';
import { bashMatcher } from './git-reading.ts';
import { lineOf, mayRunBeside } from './line.ts';
import { bashHookResponse, type BashOutput, type BashProgress, bashResult, bashText } from './output.ts';
import {
  checkBash,
  INTERNAL_FIELDS,
  interruptsBash,
  previewBash,
  runsContained,
  suggestBashRules,
} from './permissions.ts';
import { runBash } from './run.ts';
import { type BashArguments, bashInput } from './schema.ts';

/** Hosts of the list that the model is told of. */
const MAX_HOSTS_TOLD = 40;

/** Characters of a command that make a title. */
const TITLE_CHARS = 80;

type PromptServices = Pick<ShellToolServices, 'sandbox' | 'siblingAbort'>;

const SIBLINGS = {
  bash: '- A command that fails ends the calls beside it in the same message.',
  'mutating-bash': '- A command that may change something and fails ends the calls beside it in the same message.',
  never: '- A command that fails ends no other call of the same message.',
} as const;

/** The words, by the sandbox and the settings. */
function bashPrompt({ sandbox, siblingAbort = 'bash' }: PromptServices): string {
  return `Runs a command line with bash and answers with its output.

- The working directory carries over to the next call when the command succeeds; variables, functions and aliases do not. Leaving the workspace resets it.
- There is no terminal and no start-up file; stdin is empty, so give flags that avoid questions (\`--yes\`, \`--no-pager\`).
- Put paths with blanks in double quotes. Prefer absolute paths to \`cd\`.
- Set \`run_in_background\` for servers, watchers and long jobs: the call answers at once with a task id for TaskOutput and TaskStop. Do not add \`&\`: what a command leaves running is ended with it.
- Use Read, Edit, Write, Glob and Grep for files rather than cat, sed, echo, find and grep.
- Commands that only read run side by side: send independent ones in one message. Join dependent ones with \`&&\`.
${SIBLINGS[siblingAbort]}
- Exit codes that mean "no match" (grep, diff, test) are not failures.${sandbox === undefined ? '' : sandboxPrompt(sandbox)}`;
}

function sandboxPrompt({ network, isRequired }: Sandbox): string {
  return `
- Commands run in a sandbox: they write only to the working directories and to /tmp, which is empty at each call; git's hooks and settings are read-only${networkPrompt(network)}.${isRequired ? '' : ' If the task needs more, use `dangerouslyDisableSandbox`.'}`;
}

function networkPrompt(network: Sandbox['network']): string {
  if (network === 'on') return '';
  if (network === 'off' || network.length === 0) return ', and there is no network';
  const hosts = [...network.slice(0, MAX_HOSTS_TOLD), ...(network.length > MAX_HOSTS_TOLD ? ['others'] : [])];
  return `, and the network reaches these hosts alone, over HTTP and HTTPS: ${hosts.join(', ')}`;
}

/** Create Bash. */
export function bashTool(services: ShellToolServices) {
  const { limits, sandbox } = services;
  return buildTool({
    name: 'Bash',
    searchHint: 'run shell commands, scripts, git, tests, builds',
    alwaysLoad: true,
    abortsSiblings: true,
    inputSchema: bashInput(limits),
    maxResultSizeChars: 30_000,
    prompt: () => bashPrompt(services),
    description: (input) => input.description ?? commandTitle(input.command),
    analyse: (input) => lineOf(input, undefined),
    isReadOnly: (input, analysis?: unknown) => lineOf(input, analysis).verdict.isReadOnly,
    isConcurrencySafe: (input, analysis?: unknown) => mayRunBeside(lineOf(input, analysis)),
    isDestructive: (input, analysis?: unknown) => lineOf(input, analysis).verdict.warnings.length > 0,
    warnings: (input, analysis?: unknown) => lineOf(input, analysis).verdict.warnings,
    paths: (input, analysis?: unknown) => lineOf(input, analysis).verdict.paths,
    preparePermissionMatcher: (input, session, analysis?: unknown) => bashMatcher(lineOf(input, analysis), session),
    checkPermissions: (input, context) => checkBash(input, context, sandbox),
    isContained: (input) => runsContained(input, sandbox),
    prepareHold: (_input, context) => prepareHold(services, context),
    internalFields: INTERNAL_FIELDS,
    preview: (input, context) => previewBash(services, input, context),
    suggestRules: (input, analysis?: unknown) => suggestBashRules(lineOf(input, analysis)),
    toAutoClassifierInput: (input) => input.command,
    interruptBehavior: (input, analysis?: unknown) => interruptsBash(lineOf(input, analysis).verdict),
    call: (input, context, _canUseTool, _parentMessage, onProgress) => runBash(services, input, context, onProgress),
    mapToolResultToToolResultBlockParam: bashResult,
    isResultTruncated: (result: BashOutput) => result.type === 'finished' && result.output.omittedChars > 0,
    toHookResponse: bashHookResponse,
    getToolUseSummary: (input) => commandTitle(input.command),
    getActivityDescription: (input) => input.description ?? `Running ${commandTitle(input.command)}`,
    renderToolUseMessage: renderBash,
    renderToolUseProgressMessage: renderBashProgress,
    renderToolResultMessage: (result: BashOutput, _progress, { style }) =>
      renderBashResult(result, style, limits.previewChars),
    renderToolUseRejectedMessage: renderBashRejected,
    renderToolUseErrorMessage: renderBashError,
  });
}

/** Display the request; the input may still be streaming in. */
function renderBash(input: Partial<BashArguments>): Display {
  const command = showValue(input.command, '…');
  return {
    title: input.run_in_background === true ? 'Bash, in the background' : 'Bash',
    ...(typeof input.description === 'string' ? { subtitle: showText(input.description) } : {}),
    blocks: [{ kind: 'code', text: command, language: 'bash' }],
    group: { key: 'bash', title: 'Commands' },
  };
}

/** Display new output. */
function renderBashProgress(progress: readonly ToolProgress<BashProgress>[]): Display {
  return { title: 'Running', blocks: code(progress.map(({ data }) => data.text).join('')) };
}

/** Display the result. @param drawnChars Upper bound of the characters of output. */
function renderBashResult(result: BashOutput, style: 'condensed' | undefined, drawnChars: number): Display {
  if (result.type === 'background') {
    return { title: `Runs in the background as ${result.taskId}`, tone: 'info', blocks: [] };
  }
  const title = result.exitCode === 0 ? 'Done' : `Done, exit code ${result.exitCode}`;
  const subtitle = result.notes.map(showText).join('; ');
  const blocks = style === 'condensed' ? [] : code(shownHead(bashText(result), drawnChars));
  return { title, ...(subtitle === '' ? {} : { subtitle }), tone: 'success', blocks };
}

/** Display a call that was denied. */
function renderBashRejected(input: Partial<BashArguments>, message: string): Display {
  return { title: 'Not run', tone: 'warning', blocks: [...renderBash(input).blocks, { kind: 'text', text: message }] };
}

/** Display a call that failed. */
function renderBashError(message: string, input: Partial<BashArguments>): Display {
  return { title: `Failed: ${commandTitle(input.command)}`, tone: 'danger', blocks: [{ kind: 'text', text: message }] };
}

/** Shorten a command to one line. */
function commandTitle(command: unknown): string {
  const [line = '', ...more] = showValue(command, 'a command').split('\n');
  return more.length === 0 && line.length <= TITLE_CHARS ? line : `${line.slice(0, TITLE_CHARS)}…`;
}

function code(text: string): DisplayBlock[] {
  return text === '' ? [] : [{ kind: 'code', text }];
}
