/**
 * One call over a live connection.
 */
import type { CallToolResult, Client, Tool as SdkTool } from '@modelcontextprotocol/client';
import type { Limits } from '../../config/limits.ts';
import type { McpToolCall } from './adapt.ts';

/**
 * Send one `tools/call`; progress puts off its timeout, but not for ever.
 *
 * @throws Whatever the SDK threw, an abort as a timeout.
 */
export function callTool(
  client: Client,
  { toolName, arguments: input, inputSchema, onProgress }: Omit<McpToolCall, 'signal' | 'isRepeatable'>,
  signal: AbortSignal,
  limits: Pick<Limits, 'mcpCallIdleMs' | 'mcpCallMs'>,
): Promise<CallToolResult> {
  return client.callTool(
    { name: toolName, arguments: { ...input } },
    {
      signal,
      timeout: limits.mcpCallIdleMs,
      maxTotalTimeout: limits.mcpCallMs,
      resetTimeoutOnProgress: true,
      onprogress: onProgress,
      // Spares the SDK its own listing, and keeps it from compiling the server's output schema.
      toolDefinition: { name: toolName, inputSchema } as SdkTool,
    },
  );
}
