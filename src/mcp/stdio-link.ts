/**
 * Connects to a server that runs as a child of the process host.
 */
import { resolve } from 'node:path';
import { openLink, type LinkOptions, type McpLink } from './link.ts';
import type { StdioServerSettings } from './server-settings.ts';
import { StdioTransport, type StdioLimits } from './stdio-transport.ts';
import { errorMessage, GauntletError } from '../base/errors.ts';
import type { ProcessHost } from '../process/process-host.ts';

/** Names a server inherits beside the process host's own list, as other MCP clients hand them down. */
const INHERITED_NAMES = ['LOGNAME', 'SHELL', 'USER'];

/** What a stdio server needs from its environment. */
export interface StdioSurroundings {
  readonly processHost: ProcessHost;
  /** Absolute; where relative working directories start from. */
  readonly folder: string;
  readonly limits: StdioLimits & LinkOptions['limits'];
}

/**
 * Start the server and shake hands. The protocol era is not probed: that would start a second process.
 *
 * @throws {GauntletError} `tool_failed` with the reason and the end of the server's standard error.
 */
export async function openStdioLink(
  settings: StdioServerSettings,
  { processHost, folder, limits }: StdioSurroundings,
  { onListChanged, signal }: Pick<LinkOptions, 'onListChanged' | 'signal'>,
): Promise<McpLink> {
  const transport = new StdioTransport(
    processHost,
    {
      file: settings.command,
      args: settings.args ?? [],
      cwd: resolve(folder, settings.cwd ?? '.'),
      env: { ...inheritedEnvironment(), ...settings.env },
    },
    limits,
  );
  const describeEnd = () => transport.describeEnd();
  try {
    return await openLink({ transport, mode: 'legacy', limits, onListChanged, describeEnd, signal });
  } catch (error) {
    // The process host has said all there is to say.
    if (error instanceof GauntletError) throw error;
    const message = `Cannot start "${settings.command}": ${errorMessage(error)}; ${transport.describeEnd()}`;
    throw new GauntletError('tool_failed', message, { cause: error });
  }
}

function inheritedEnvironment(): Record<string, string> {
  return Object.fromEntries(
    INHERITED_NAMES.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
