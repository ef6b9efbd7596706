/**
 * The tool that stands for a server of a trusted folder until it is connected: it asks, then connects.
 */
import * as z from 'zod';
import { showText } from '../base/hidden-characters.ts';
import { buildTool } from '../tool/build-tool.ts';
import type { Tool } from '../tool/tool.ts';
import type { Display } from '../wire/display.ts';
import { mcpToolName } from './tool-name.ts';
import type { McpServerSettings } from './server-settings.ts';

/** A server that a folder names. */
export interface FolderServer {
  readonly name: string;
  /** Real path. */
  readonly folder: string;
  readonly settings: McpServerSettings;
  /** Ignored members, one sentence each. */
  readonly notes: readonly string[];
}

/** Work of the tool, for one session. */
interface Connecting {
  /** True if the person is known to have said yes to this definition. */
  isApproved(): boolean;
  /** Remember the yes, and connect. @returns Names of the tools. */
  connect(signal: AbortSignal): Promise<readonly string[]>;
}

/** Build the tool. */
export function connectTool(server: FolderServer, { isApproved, connect }: Connecting): Tool {
  const { settings, folder, notes } = server;
  const shown = showText(server.name);
  const definition = showText(JSON.stringify(settings));
  const display: Display = {
    title: `Connect the MCP server ${shown}`,
    blocks: [{ kind: 'code', text: showText(JSON.stringify(settings, null, 2)), language: 'json' }],
  };
  const failed = (message: string, tone: 'warning' | 'danger'): Display => ({
    ...display,
    tone,
    blocks: [{ kind: 'text', text: message }],
  });

  return buildTool({
    name: mcpToolName(server.name, 'connect'),
    origin: { type: 'mcp', name: server.name },
    alwaysLoad: true,
    userFacingName: () => display.title,
    prompt: () =>
      `Connects the MCP server "${shown}" of this project; its tools then replace this one in the list. A person is asked the first time.`,
    description: () => display.title,
    inputSchema: z.strictObject({}),
    maxResultSizeChars: 100_000,
    // Whoever said yes is not asked again.
    isReadOnly: isApproved,
    interruptBehavior: () => 'cancel',
    warnings: () => notes,
    checkPermissions: () => {
      if (isApproved()) return { behavior: 'allow' };
      const where = 'url' in settings ? 'is reached' : 'is a program that runs outside any sandbox';
      const message = `The folder "${showText(folder)}" names the MCP server "${shown}", which ${where}: ${definition}`;
      // A rule for its tools is not one for its start.
      return { behavior: 'ask', message, isSafetyCheck: true };
    },
    call: async (_input, { signal }) => ({ data: await connect(signal) }),
    mapToolResultToToolResultBlockParam: (names: readonly string[], toolUseId) => ({
      type: 'tool_result',
      tool_use_id: toolUseId,
      content: [`"${shown}" is connected. Its tools:`, ...names].join('\n'),
    }),
    renderToolUseMessage: () => display,
    renderToolResultMessage: (names: readonly string[]) => ({
      title: `${shown} is connected`,
      tone: 'success',
      blocks: [{ kind: 'list', items: [...names] }],
    }),
    renderToolUseRejectedMessage: (_input, message) => failed(message, 'warning'),
    renderToolUseErrorMessage: (message) => failed(message, 'danger'),
  });
}
