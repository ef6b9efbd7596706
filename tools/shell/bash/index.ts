/** Bash: runs a command line. */
import { buildTool } from '../../../src/contract/build-tool.ts';
import { classifyCommand } from '../../../src/permissions/shell/classify.ts';
import type { ShellToolServices } from '../services.ts';
import { bashMatcher } from './git-reading.ts';
import { interruptsBash } from './interrupt.ts';
import { bashHookResponse, bashResult, bashText, type BashOutput } from './output.ts';
import { prepareHold } from './enclosed.ts';
import { checkBash, INTERNAL_FIELDS, previewBash, runsContained, suggestBashRules } from './permissions.ts';
import { bashPrompt } from './prompt.ts';
import { isReadOnlyCommand, mayRunBeside } from './read-only.ts';
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
    isReadOnly: (input) => isReadOnlyCommand(input.command),
    isConcurrencySafe: (input) => mayRunBeside(input.command),
    isDestructive: (input) => classifyCommand(input.command).warnings.length > 0,
    warnings: (input) => classifyCommand(input.command).warnings,
    paths: (input) => classifyCommand(input.command).paths,
    preparePermissionMatcher: bashMatcher,
    checkPermissions: (input, context) => checkBash(input, context, sandbox),
    isContained: (input) => runsContained(input, sandbox),
    prepareHold: (_input, context) => prepareHold(services, context),
    internalFields: INTERNAL_FIELDS,
    preview: (input, context) => previewBash(services, input, context),
    suggestRules: suggestBashRules,
    toAutoClassifierInput: (input) => input.command,
    interruptBehavior: (input) => interruptsBash(input.command),
    call: (input, context, _canUseTool, _parentMessage, onProgress) => runBash(services, input, context, onProgress),
    mapToolResultToToolResultBlockParam: bashResult,
    isResultTruncated: (result: BashOutput) => result.type === 'finished' && result.output.omittedChars > 0,
    extractSearchText: bashText,
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
