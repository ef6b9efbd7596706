/** Bash: runs a command line. */
import { buildTool } from '../../../src/tool/build-tool.ts';
import type { ShellToolServices } from '../services.ts';
import { bashMatcher } from './git-reading.ts';
import { interruptsBash } from './interrupt.ts';
import { lineOf, mayRunBeside } from './line.ts';
import { bashHookResponse, bashResult, type BashOutput } from './output.ts';
import { prepareHold } from './enclosed.ts';
import { checkBash, INTERNAL_FIELDS, previewBash, runsContained, suggestBashRules } from './permissions.ts';
import { bashPrompt } from './prompt.ts';
import * as render from './render.ts';
import { runBash } from './run.ts';
import { bashInput } from './schema.ts';

/** Make Bash. */
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
    description: (input) => input.description ?? render.commandTitle(input.command),
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
    getToolUseSummary: (input) => render.commandTitle(input.command),
    getActivityDescription: (input) => input.description ?? `Running ${render.commandTitle(input.command)}`,
    renderToolUseMessage: render.renderBash,
    renderToolUseProgressMessage: render.renderBashProgress,
    renderToolResultMessage: (result: BashOutput, _progress, { style }) =>
      render.renderBashResult(result, style, limits.previewChars),
    renderToolUseRejectedMessage: render.renderBashRejected,
    renderToolUseErrorMessage: render.renderBashError,
  });
}
