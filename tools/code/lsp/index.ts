/** LSP: asks a language server about code. */
import { cutText } from '../../../src/base/cut-text.ts';
import { showValue } from '../../../src/base/hidden-characters.ts';
import { buildTool } from '../../../src/tool/build-tool.ts';
import { drawFailure } from '../../../src/tool/draw-failure.ts';
import type { ToolProgress, ValidationResult } from '../../../src/tool/tool.ts';
import type { Display } from '../../../src/wire/display.ts';
import type { CodeToolServices } from '../services.ts';
import { findServers, holdServer, serverFor } from './configured-servers.ts';
import type { LspOutput, LspProgress } from './run.ts';
import { type LspArguments, LspInput } from './schema.ts';

const PROMPT = `Asks a language server about code: it knows types, imports and overloads, where Grep knows only text.

- \`definition\`, \`references\` and \`hover\` are about the name at \`line\` and \`character\`, both counted from 1 as Read and Grep count lines. Point at the first letter of the name.
- \`symbols\` outlines a file: its functions, classes and what is in them.
- \`diagnostics\` lists errors and warnings of a file as it is on the disk: use it after an edit instead of a whole build.

It only reads. The first call waits until the server has read the project. Use Grep for text, comments, other languages, and names that occur in few places.`;

/** Operations about one place in a file. */
const PLACED_OPERATIONS: readonly string[] = ['definition', 'references', 'hover'];

/** Create LSP. */
export function lspTool(services: CodeToolServices) {
  const servers = findServers(services);
  return buildTool({
    name: 'LSP',
    searchHint: 'find definition, references, types, symbols, errors of code',
    shouldDefer: true,
    isEnabled: () => servers.found.length > 0,
    disabledReason: () => servers.missing,
    inputSchema: LspInput,
    maxResultSizeChars: 30_000,
    prompt: () => PROMPT,
    description: ({ operation, filePath }) => `Ask the language server for ${operation} in ${filePath}`,
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    paths: ({ filePath }) => [{ path: filePath, access: 'read' }],
    validateInput: (input) => validate(input, servers.found),
    prepareHold: ({ filePath }, context) => holdServer(services, serverFor(servers.found, filePath), context),
    toAutoClassifierInput: ({ operation, filePath }) => `${operation} ${filePath}`,
    interruptBehavior: () => 'cancel',
    call: async (input, context, _canUseTool, _parentMessage, onProgress) => {
      const { runLsp } = await import('./run.ts');
      const onStatus = (message: string) => onProgress?.({ data: { type: 'status', message } });
      return runLsp(services, serverFor(servers.found, input.filePath), input, context, onStatus);
    },
    mapToolResultToToolResultBlockParam: ({ text }: LspOutput, toolUseId) => ({
      type: 'tool_result',
      tool_use_id: toolUseId,
      content: text,
    }),
    isSearchOrReadCommand: () => ({ isSearch: true, isRead: false }),
    getToolUseSummary: ({ operation = '', filePath = '' }) => `${operation} ${filePath}`.trim(),
    getActivityDescription: ({ operation = '', filePath = '' }) => `Looking up ${operation} in ${filePath}`,
    renderToolUseMessage: drawCall,
    renderToolUseProgressMessage: (progress: readonly ToolProgress<LspProgress>[]): Display => ({
      title: progress.at(-1)?.data.message ?? 'Asking the language server',
      blocks: [],
    }),
    renderToolResultMessage: ({ title, text }: LspOutput, _progress, { style }): Display => ({
      title,
      tone: 'success',
      blocks: style === 'condensed' ? [] : [{ kind: 'code', text: cutText(text, services.limits.previewChars) }],
    }),
    renderToolUseRejectedMessage: (_input, message) => drawFailure('Did not ask the language server', message),
    renderToolUseErrorMessage: (message) => drawFailure('The language server gave no answer', message),
    renderGroupedToolUse: (inputs) => ({ key: 'lsp', title: `${inputs.length} look-ups in code` }),
  });
}

function validate(input: LspArguments, servers: ReturnType<typeof findServers>['found']): ValidationResult {
  const { operation, filePath, line, character } = input;
  if (!serverFor(servers, filePath)) {
    const known = [...new Set(servers.flatMap(({ settings }) => settings.extensions))].join(', ');
    const [, end = 'such'] = /(\.[^./]+)$/.exec(filePath) ?? [];
    const message = `There is no language server for ${end} files, only for ${known}. Use Grep and Read, or have "languageServers" set`;
    return { result: false, message };
  }
  const isPlaced = PLACED_OPERATIONS.includes(operation);
  if (!isPlaced || (line !== undefined && character !== undefined)) return { result: true };
  const missing = line === undefined ? 'line' : 'character';
  return { result: false, message: `"${operation}" needs \`${missing}\`: point at the first letter of the name` };
}

function drawCall({ operation, filePath, line, character }: Partial<LspArguments>): Display {
  const place = [showValue(filePath, '…'), line, character].filter((part) => part !== undefined).join(':');
  return { title: `LSP ${showValue(operation, '…')}`, subtitle: place, blocks: [] };
}
