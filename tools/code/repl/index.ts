/** REPL: runs JavaScript that calls tools. */
import { cutText } from '../../../src/base/cut-text.ts';
import { showText, showValue } from '../../../src/base/hidden-characters.ts';
import { buildTool } from '../../../src/tool/build-tool.ts';
import { drawFailure } from '../../../src/tool/draw-failure.ts';
import type { ToolProgress, ToolUseContext } from '../../../src/tool/tool.ts';
import type { PermissionResult } from '../../../src/wire/decision.ts';
import type { Display, DisplayBlock } from '../../../src/wire/display.ts';
import type { CodeToolServices } from '../services.ts';
import { lossNote, type ReplOutput, type ReplProgress } from './output.ts';
import { replPrompt } from './prompt.ts';

import { type ReplArguments, ReplInput } from './schema.ts';

/** Characters of code that make a title. */
const TITLE_CHARS = 80;

/** Create REPL. */
export function replTool(services: CodeToolServices) {
  const { previewChars } = services.limits;
  return buildTool({
    name: 'REPL',
    searchHint: 'run JavaScript, loop over tool calls, compute, filter results',
    shouldDefer: true,
    inputSchema: ReplInput,
    maxResultSizeChars: 50_000,
    prompt: replPrompt,
    description: ({ description, code }) => description ?? titleOf(code),
    // The code itself reaches nothing, and each of its tool calls is judged. Takes the input, so that no list calls the tool
    // harmless for every input.
    touchesOnlySession: (_input) => true,
    checkPermissions: (_input, context) => checkRepl(services, context),
    toAutoClassifierInput: ({ code }) => code,
    interruptBehavior: () => 'cancel',
    call: async (input, context, _canUseTool, _parentMessage, onProgress) => {
      const { runRepl } = await import('./run.ts');
      return runRepl(services, input, context, onProgress);
    },
    mapToolResultToToolResultBlockParam: (result: ReplOutput, toolUseId) => ({
      type: 'tool_result',
      tool_use_id: toolUseId,
      content: textOf(result),
    }),
    getToolUseSummary: ({ description, code }) => description ?? titleOf(code),
    getActivityDescription: ({ description }) => description ?? 'Running JavaScript',
    renderToolUseMessage: drawCode,
    renderToolUseProgressMessage: (progress: readonly ToolProgress<ReplProgress>[]): Display => ({
      title: 'Running',
      blocks: code(progress.map(({ data }) => data.text).join('')),
    }),
    renderToolResultMessage: (result: ReplOutput, _progress, { style }): Display => ({
      title: 'Done',
      tone: 'success',
      blocks: style === 'condensed' ? [] : code(cutText(textOf(result), previewChars)),
    }),
    renderToolUseRejectedMessage: (input, message): Display => ({
      title: 'Not run',
      tone: 'warning',
      blocks: [...drawCode(input).blocks, { kind: 'text', text: message }],
    }),
    renderToolUseErrorMessage: (message) => drawFailure('The code failed', cutText(message, previewChars)),
  });
}

/** Code that nothing holds is asked about, each run; where it is held, its tool calls are what is judged. */
async function checkRepl(services: CodeToolServices, context: ToolUseContext): Promise<PermissionResult> {
  const { callKey, missingContainment } = await import('./run.ts');
  const missing = await missingContainment(services, context);
  if (missing === undefined) {
    services.codeProcesses?.heldCalls.set(callKey(context), true);
    return { behavior: 'allow' };
  }
  const message = `The code needs a yes: it could reach files and the network by itself here, because ${missing}`;
  return { behavior: 'ask', message };
}

function textOf(result: ReplOutput): string {
  const { output, value = output === '' ? 'undefined' : '' } = result;
  const gap = output === '' || value === '' || output.endsWith('\n') ? '' : '\n';
  return `${output}${gap}${value}${lossNote(result)}`;
}

function drawCode({ description, code: text }: Partial<ReplArguments>): Display {
  return {
    title: 'REPL',
    ...(typeof description === 'string' && { subtitle: showText(description) }),
    blocks: [{ kind: 'code', text: showCode(text), language: 'javascript' }],
    group: { key: 'repl', title: 'Code' },
  };
}

function showCode(text: unknown): string {
  return typeof text === 'string' ? text.split('\n').map(showText).join('\n') : '…';
}

function titleOf(text: unknown): string {
  const [line = ''] = (typeof text === 'string' ? text.trim() : '').split('\n');
  return cutText(showValue(line, 'code'), TITLE_CHARS);
}

function code(text: string): DisplayBlock[] {
  return text === '' ? [] : [{ kind: 'code', text }];
}
