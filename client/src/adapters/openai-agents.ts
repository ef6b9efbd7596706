/**
 * Tools for the package `@openai/agents`.
 *
 * ```ts
 * import { Agent, run, tool } from '@openai/agents';
 * const agent = new Agent({ name: 'Worker', tools: await gauntletTools(client, { tool }) });
 * ```
 */
import type { Client } from '../client.ts';
import { filesOf, markedText } from '../replies.ts';
import type { RunResult } from '../run.ts';
import { type AdapterOptions, ownApprovals } from './own-approvals.ts';

/** The function of the SDK. */
export interface OpenaiAgentsSdk<Tool> {
  /** Overloads of the SDK cannot be stated here: it is called with the options of a tool. */
  readonly tool: (options: never) => Tool;
}

interface CallDetails {
  readonly toolCall?: { readonly callId?: string };
  readonly signal?: AbortSignal;
}

/** Make the tools of the session. @throws {GauntletError} */
export async function gauntletTools<Tool>(
  client: Client,
  { tool }: OpenaiAgentsSdk<Tool>,
  options?: AdapterOptions,
): Promise<Tool[]> {
  const taken = new Set<string>();
  const asking = ownApprovals(client, options);
  const listed = await client.tools('anthropic', options);
  return listed.map(({ name, description, input_schema: parameters }) => {
    const definition = {
      name: agentsName(name, taken),
      description,
      parameters,
      strict: false,
      execute: async (input: unknown, _context: unknown, details?: CallDetails) => {
        const id = details?.toolCall?.callId;
        return output(await client.run(name, input, { id, signal: details?.signal, approval: asking?.take(id) }));
      },
      ...(asking && {
        needsApproval: (_context: unknown, input: unknown, callId?: string) => asking.isNeeded(name, input, callId),
      }),
      // The SDK would hide the reason from the model and from the program.
      errorFunction: null,
    };
    return tool(definition as never);
  });
}

/** The SDK writes `_` for every other sign than letters and digits; two names must not become one. */
function agentsName(name: string, taken: Set<string>): string {
  const plain = name.replace(/[^A-Za-z0-9_]/g, '_');
  let given = plain;
  for (let count = 2; taken.has(given); count++) given = `${plain}_${count}`;
  taken.add(given);
  return given;
}

function output({ content, isError }: RunResult): unknown {
  const text = markedText(content, isError);
  const files = filesOf(content);
  if (files.length === 0) return text;
  return [
    ...(text === '' ? [] : [{ type: 'text', text }]),
    ...files.map(({ source: { data, media_type: mediaType }, ...file }) =>
      file.type === 'image'
        ? { type: 'image', image: { data, mediaType } }
        : { type: 'file', file: { data, mediaType, filename: file.title ?? 'document.pdf' } },
    ),
  ];
}
