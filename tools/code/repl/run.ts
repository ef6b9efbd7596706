/** Implementation of REPL: runs code in the session's process, and its tool calls as inner calls. */
import { join } from 'node:path';
import { errorMessage, GauntletError } from '../../../src/base/errors.ts';
import { parseSafeJson, plainCopy } from '../../../src/base/json.ts';
import { describeTool } from '../../../src/pool/describe.ts';
import { sessionPlace } from '../../../src/process/jail/session-place.ts';
import type { JailPlace } from '../../../src/process/jail/place.ts';
import { paceOutput } from '../../../src/process/paced-output.ts';
import { createTextWindow } from '../../../src/process/text-window.ts';
import type { ToolProgress, ToolResult, ToolUseContext } from '../../../src/tool/tool.ts';
import { resultText } from '../../../src/wire/result-text.ts';
import type { CodeToolServices } from '../services.ts';
import { lossNote, type ReplOutput, type ReplProgress } from './output.ts';
import { redeclarable } from './redeclare.ts';
import { type CodeEnd, hasPermissionModel, startRepl, type ToolAnswer, type ToolCall } from './repl-process.ts';
import type { ReplArguments } from './schema.ts';

/** Output that is shown whole; of more, the head and the tail. */
const WHOLE_CHARS = 20_000;
const PART_CHARS = 8_000;

/** Structured output of one tool call that is handed to the code. */
const MAX_DATA_CHARS = 4 * 1_024 * 1_024;

/** The reason why nothing can hold code to calling tools; `undefined` if the permission model and the jail do. */
export async function missingContainment(
  { jail }: CodeToolServices,
  context: ToolUseContext,
): Promise<string | undefined> {
  if (!hasPermissionModel) return 'this version of Node has no permission model';
  if (!jail) return 'there is no jail';
  const hold = await jail.prepare(replPlace(context));
  if (hold.kind === 'jail') return undefined;
  return hold.kind === 'none' ? hold.reason : 'the jail is switched off';
}

/**
 * Run code.
 *
 * @throws {GauntletError} `tool_failed` with the error of the code, `timeout`, `output_limit`; each with its output.
 */
export async function runRepl(
  services: CodeToolServices,
  input: ReplArguments,
  context: ToolUseContext,
  onProgress: ((progress: ToolProgress<ReplProgress>) => void) | undefined,
): Promise<ToolResult<ReplOutput>> {
  const { codeProcesses, jail, processHost } = services;
  if (!codeProcesses) throw new GauntletError('tool_failed', 'No process can be started here');
  const missing = await missingContainment(services, context);
  const isContained = missing === undefined;
  if (!isContained && codeProcesses.heldCalls.has(callKey(context))) {
    throw new GauntletError(
      'contained',
      `The code passed because it is held, and is not any more: ${missing}. Try again`,
    );
  }
  const key = { sessionId: context.sessionId, place: 'repl', state: String(isContained) };
  const window = createTextWindow({ wholeChars: WHOLE_CHARS, headChars: PART_CHARS, tailChars: PART_CHARS });
  const progress = paceOutput((stream, text) => onProgress?.({ data: { type: 'repl', stream, text } }));
  let isNew = false;
  const start = () => {
    isNew = true;
    const contained = isContained && jail ? { jail, place: replPlace(context) } : undefined;
    return startRepl({ processHost, cwd: context.session.root, ...(contained && { contained }) });
  };
  const hadState = codeProcesses.replSessions.has(context.sessionId);
  try {
    const end = await codeProcesses.repls.use(key, start, (repl) => {
      if (repl.isBusy) throw new GauntletError('tool_failed', 'The REPL runs other code. Wait until that has ended');
      codeProcesses.replSessions.set(context.sessionId, true);
      return repl.run({
        code: redeclarable(input.code),
        tools: callableTools(context).map(({ name }) => name),
        timeoutMs: input.timeout,
        signal: context.signal,
        onCall: (call) => answerCall(call, context),
        onHelp: (name) => answerHelp(name, context),
        onOutput: (stream, text) => {
          window.add(text);
          progress.add(stream, text);
        },
      });
    });
    return { data: outcome(end, input, { output: windowText(window.read()), isStateLost: isNew && hadState }) };
  } finally {
    progress.finish();
  }
}

/** Word a run that ended well. @throws {GauntletError} For any other. */
function outcome(end: CodeEnd, { timeout }: ReplArguments, run: Omit<ReplOutput, 'value'>): ReplOutput {
  if (end.kind === 'done' && end.isOk) return { ...run, ...(end.text !== undefined && { value: end.text }) };
  const output = run.output === '' ? '' : `\n${run.output}`;
  switch (end.kind) {
    case 'done':
      throw new GauntletError('tool_failed', `${run.output}${end.text ?? 'The code failed'}${lossNote(run)}`);
    case 'timeout': {
      const message = `The code did not end within ${timeout} ms and was ended with its process. ${STATE_LOST}${output}`;
      throw new GauntletError('timeout', message);
    }
    case 'cancelled':
      throw new GauntletError('cancelled', `Cancelled. The code did not stop. ${STATE_LOST}`);
    case 'gone':
      throw new GauntletError(
        'tool_failed',
        `The process of the REPL has ended: ${end.reason}. ${STATE_LOST}${output}`,
      );
  }
}

const STATE_LOST = 'Values of earlier calls are lost; the next call has a new process';

function windowText({ head, tail, omittedChars }: ReturnType<ReturnType<typeof createTextWindow>['read']>): string {
  return omittedChars === 0 ? head : `${head}\n… ${omittedChars} characters left out …\n${tail}`;
}

/** All tools but this one: code that runs code would wait for itself. */
function callableTools({ innerTools }: ToolUseContext): ToolUseContext['innerTools'] {
  return innerTools.filter(({ name }) => name !== 'REPL');
}

async function answerCall({ name, input }: ToolCall, context: ToolUseContext): Promise<ToolAnswer> {
  if (!callableTools(context).some((tool) => tool.name === name)) return unknownTool(name);
  try {
    // As strict as the input of a block that a client sends: rules judge what then runs.
    const safe = parseSafeJson(JSON.stringify(input), `the input of "${name}"`);
    const { status, errorCode, content, data } = await context.run({ name, input: safe });
    if (status !== 'ok') return { error: resultText(content), ...(errorCode && { code: errorCode }) };
    const isText = typeof content === 'string' || content.every(({ type }) => type === 'text');
    return { content: isText ? resultText(content) : content, data: boundedData(data) };
  } catch (error) {
    return { error: errorMessage(error), code: error instanceof GauntletError ? error.code : 'cancelled' };
  }
}

/** Structured output as JSON, or nothing where it is none or too long. */
function boundedData(data: unknown): unknown {
  const copy = plainCopy(data);
  return copy && JSON.stringify(copy.value).length <= MAX_DATA_CHARS ? copy.value : undefined;
}

function answerHelp(name: string, context: ToolUseContext): ToolAnswer {
  const tools = callableTools(context);
  const tool = tools.find((each) => each.name === name || each.aliases?.includes(name) === true);
  if (!tool) return unknownTool(name);
  const { permissions, cwd } = context.session;
  const options = { toolNames: tools.map((each) => each.name), principal: context.principal, permissions, cwd };
  try {
    const { description, input_schema: schema } = describeTool(tool, options);
    return { content: `${description}\n\n${JSON.stringify(schema)}` };
  } catch (error) {
    return { error: `The input of "${name}" cannot be described: ${errorMessage(error)}` };
  }
}

function unknownTool(name: string): ToolAnswer {
  return { error: `There is no tool "${name}" that this session may call here`, code: 'unknown_tool' };
}

/** Identify a call among those of all sessions. */
export function callKey({ sessionId, toolUseId }: ToolUseContext): string {
  return `${sessionId}\n${toolUseId}`;
}

/** A jail of its own that holds no folder of the session: files are reached by tools alone. */
function replPlace(context: ToolUseContext): JailPlace {
  const { principal, sessionId, sessionFolder } = sessionPlace(context);
  const denials = { version: 0, isDenied: () => false, mayDenyBelow: () => false, places: () => [] };
  return {
    principal,
    sessionId: `${sessionId}/repl`,
    folders: [],
    sessionFolder: join(sessionFolder, 'repl'),
    denials,
  };
}
