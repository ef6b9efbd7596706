/**
 * PowerShell: runs a command with `pwsh`.
 *
 * Nothing is read of the command, so every call is asked about unless a rule allows exactly this command, or all.
 */
import * as z from 'zod';
import { showText, showValue } from '../../src/base/hidden-characters.ts';
import { shownHead } from '../../src/files/shown-head.ts';
import { findProgram } from '../../src/process/find-program.ts';
import { rulesNamed } from '../../src/permissions/rule-index.ts';
import { PATH_RULE_NAMES } from '../../src/permissions/rule-names.ts';
import { paceOutput } from '../../src/process/paced-output.ts';
import type { SpawnRequest } from '../../src/process/process-host.ts';
import type { ShellVerdict } from '../../src/shell/verdict.ts';
import { buildTool } from '../../src/tool/build-tool.ts';
import type { PermissionMatcher, ToolProgress, ToolResult, ToolUseContext } from '../../src/tool/tool.ts';
import type { PermissionResult } from '../../src/wire/decision.ts';
import type { Display } from '../../src/wire/display.ts';
import { outputFile, runEnclosed } from './bash/enclosed.ts';
import { judgeEnd, wholeOutput } from './bash/judge-end.ts';
import { type BashOutput, type BashProgress, bashHookResponse, bashResult, bashText } from './bash/output.ts';
import { taskEnd, watchCommand } from './bash/run.ts';
import { startFolder } from './bash/working-directory.ts';
import type { ShellToolServices } from './services.ts';

/** Encoded for `pwsh` it has 2.7 times as many characters, and the kernel takes 131,072 in one argument. */
const MAX_COMMAND_CHARS = 40_000;

/** Characters of a command that make a title. */
const TITLE_CHARS = 80;

/** The judgement of a command of which nothing is read. */
const UNREAD: ShellVerdict = {
  isReadOnly: false,
  reason: 'PowerShell commands are not read',
  parts: [],
  paths: [],
  warnings: [],
  isUnparsable: true,
  changesDirectory: false,
};

/** Create the input schema with the time limits of this server. */
function powershellInput({ commandMs, commandMaxMs }: ShellToolServices['limits']) {
  return z.strictObject({
    command: z.string().min(1).max(MAX_COMMAND_CHARS).describe('The PowerShell command to run'),
    timeout: z
      .int()
      .min(1)
      .max(commandMaxMs)
      .optional()
      .describe(`How long it may take, in milliseconds: ${commandMs} by default, at most ${commandMaxMs}`),
    description: z.string().optional().describe('What the command does, in 5 to 10 words of the active voice'),
    run_in_background: z
      .boolean()
      .optional()
      .describe('Set to true to let the command run on in the background; read its output later with TaskOutput'),
  });
}

type PowerShellArguments = z.output<ReturnType<typeof powershellInput>>;

function powershellPrompt({ limits }: ShellToolServices): string {
  return `Runs a command with PowerShell (pwsh) and answers with its output.

- Use it for scripts and modules that are written for PowerShell; for everything else Bash is better, since commands that only read run there unasked.
- Each call begins in the session's working directory, without a profile; variables, functions and Set-Location do not carry over.
- There is no terminal, and stdin is empty: a command that asks a question fails. Separate commands with \`;\`, or with \`&&\` where the next one needs the first.
- A command may take ${limits.commandMs} ms; set \`timeout\` for up to ${limits.commandMaxMs} ms. What runs longer is ended with everything it started.
- Set \`run_in_background\` for long jobs: the call answers at once with a task id for TaskOutput and TaskStop.
- To fail the call, end with \`exit 1\` or let an error stop the command: set \`$ErrorActionPreference = 'Stop'\`.`;
}

/** Create PowerShell. */
export function powershellTool(services: ShellToolServices) {
  const { limits, sandbox, searchPath } = services;
  const program = findProgram('pwsh', searchPath);
  return buildTool({
    name: 'PowerShell',
    searchHint: 'run PowerShell commands and scripts with pwsh',
    shouldDefer: true,
    isEnabled: () => program !== undefined,
    disabledReason: () => 'there is no "pwsh" on the search path: install PowerShell 7, and restart the server',
    inputSchema: powershellInput(limits),
    maxResultSizeChars: 30_000,
    prompt: () => powershellPrompt(services),
    description: (input) => input.description ?? commandTitle(input.command),
    preparePermissionMatcher: ({ command }) => powershellMatcher(command),
    checkPermissions: (_input, context) => checkPowerShell(context, sandbox?.isAutoAllowed === true),
    isContained: () => sandbox?.isAutoAllowed === true,
    suggestRules: ({ command }) => (/[*():\n]/.test(command) ? [] : [`PowerShell(${command})`]),
    toAutoClassifierInput: (input) => input.command,
    call: (input, context, _canUseTool, _parentMessage, onProgress) =>
      runPowerShell(services, program ?? 'pwsh', input, context, onProgress),
    mapToolResultToToolResultBlockParam: bashResult,
    isResultTruncated: (result: BashOutput) => result.type === 'finished' && result.output.omittedChars > 0,
    toHookResponse: bashHookResponse,
    getToolUseSummary: (input) => commandTitle(input.command),
    getActivityDescription: (input) => input.description ?? `Running ${commandTitle(input.command)}`,
    renderToolUseMessage: renderCommand,
    renderToolUseProgressMessage: (progress: readonly ToolProgress<BashProgress>[]): Display => ({
      title: 'Running',
      blocks: [{ kind: 'code', text: progress.map(({ data }) => data.text).join('') }],
    }),
    renderToolResultMessage: (result: BashOutput, _progress, { style }) =>
      renderResult(result, style, limits.previewChars),
    renderToolUseRejectedMessage: (input, message): Display => ({
      title: 'Not run',
      tone: 'warning',
      blocks: [...renderCommand(input).blocks, { kind: 'text', text: message }],
    }),
    renderToolUseErrorMessage: (message, input): Display => ({
      title: `Failed: ${commandTitle(input.command)}`,
      tone: 'danger',
      blocks: [{ kind: 'text', text: message }],
    }),
  });
}

/**
 * Match rules. A deny or ask rule hits a command that contains the beginning of its spec, in any case; any other command
 * may hit it, since PowerShell has aliases and builds commands from text. An allow rule covers the whole command only.
 */
function powershellMatcher(command: string): PermissionMatcher {
  const text = folded(command);
  return {
    hits: (specs) => specs.find((spec) => text.includes(folded(spec.replace(/:?\*[^]*$/, '')))),
    mayHit: ([first]) => first,
    covers: (specs) => (specs.includes(command) ? [command] : undefined),
  };
}

/** Rules that forbid a command, or a path that a command may reach. */
const OTHER_RULES = ['Bash', ...Object.values(PATH_RULE_NAMES)];

/** The sandbox does not know rules: where some are about commands or paths, an unread command does not pass for it. */
function checkPowerShell({ session }: ToolUseContext, passesContained: boolean): PermissionResult {
  const restricting = (['deny', 'ask'] as const).flatMap((behavior) =>
    OTHER_RULES.map((name) => rulesNamed(session.permissions, behavior, name)),
  );
  const isRestricted = restricting.some(({ bare, specs }) => bare !== undefined || specs.length > 0);
  if (!passesContained || !isRestricted) return { behavior: 'allow' };
  const message =
    'PowerShell needs approval: its commands are not read, and may do what rules about Bash or paths forbid';
  return { behavior: 'ask', message };
}

/** Drop what PowerShell ignores inside names: case, quotes, backticks and the width of blanks. */
function folded(text: string): string {
  return text.toLowerCase().replace(/[`'"]/g, '').replace(/\s+/g, ' ').trim();
}

/** @throws {GauntletError} As Bash. */
async function runPowerShell(
  services: ShellToolServices,
  program: string,
  input: PowerShellArguments,
  context: ToolUseContext,
  onProgress: ((progress: ToolProgress<BashProgress>) => void) | undefined,
): Promise<ToolResult<BashOutput>> {
  const { cwd, note } = startFolder(context.session);
  const request = pwshRequest(program, input.command, cwd);
  if (input.run_in_background === true) return { data: await startInBackground(services, request, input, context) };
  const timeoutMs = input.timeout ?? services.limits.commandMs;
  const reportChanges = await watchCommand(services, UNREAD, context, 'PowerShell');
  const progress = paceOutput((stream, text) => onProgress?.({ data: { type: 'bash', stream, text } }));
  const end = await runEnclosed(services, input, context, {
    request,
    timeoutMs,
    signal: context.signal,
    outputPath: outputFile(context, context.toolUseId),
    onText: progress.add,
  }).finally(() => progress.finish());
  // Also after a failure, since changes were made anyway.
  await reportChanges?.();
  judgeEnd(UNREAD, end, { timeoutMs, isHeld: false });
  const notes = note === undefined ? [] : [note];
  return { data: { type: 'finished', output: end.output, exitCode: 0, notes }, spilled: wholeOutput(end) };
}

/** @throws {GauntletError} As `Tasks.start`. */
async function startInBackground(
  services: ShellToolServices,
  request: SpawnRequest,
  input: PowerShellArguments,
  context: ToolUseContext,
): Promise<BashOutput> {
  const { id } = await context.tasks.start({
    kind: 'powershell',
    description: input.description ?? input.command,
    outputPath: (taskId) => outputFile(context, taskId),
    run: async (task) =>
      taskEnd(
        await runEnclosed(services, input, context, {
          request,
          ...(input.timeout === undefined ? {} : { timeoutMs: input.timeout }),
          signal: task.signal,
          outputPath: outputFile(context, task.id),
          isFileKept: true,
          onText: (_stream, text) => task.say(text),
        }),
      ),
  });
  return { type: 'background', taskId: id, outputPath: outputFile(context, id) };
}

/** A shell replaces itself with `pwsh`, so that it is confined as Bash is. Encoded, the command needs no quotes. */
function pwshRequest(program: string, command: string, cwd: string): SpawnRequest {
  const encoded = Buffer.from(command, 'utf16le').toString('base64');
  const options = '-NoLogo -NoProfile -NonInteractive -OutputFormat Text';
  const quoted = `'${program.replaceAll("'", String.raw`'\''`)}'`;
  return { file: 'bash', args: [], shellScript: `exec ${quoted} ${options} -EncodedCommand ${encoded}`, cwd, env: {} };
}

/** Display the request; the input may still be streaming in. */
function renderCommand(input: Partial<PowerShellArguments>): Display {
  return {
    title: input.run_in_background === true ? 'PowerShell, in the background' : 'PowerShell',
    ...(typeof input.description === 'string' ? { subtitle: showText(input.description) } : {}),
    blocks: [{ kind: 'code', text: showValue(input.command, '…'), language: 'powershell' }],
    group: { key: 'powershell', title: 'PowerShell commands' },
  };
}

function renderResult(result: BashOutput, style: 'condensed' | undefined, maxChars: number): Display {
  if (result.type === 'background') {
    return { title: `Runs in the background as ${result.taskId}`, tone: 'info', blocks: [] };
  }
  const text = shownHead(bashText(result), maxChars);
  return { title: 'Done', tone: 'success', blocks: style === 'condensed' ? [] : [{ kind: 'code', text }] };
}

/** Shorten a command to one line. */
function commandTitle(command: unknown): string {
  const [line = '', ...more] = showValue(command, 'a command').split('\n');
  return more.length === 0 && line.length <= TITLE_CHARS ? line : `${line.slice(0, TITLE_CHARS)}…`;
}
