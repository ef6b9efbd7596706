/** What every MCP server is given of the server it lends its tools to. */
import type { Limits } from '../../config/limits.ts';
import type { ProcessHost } from '../process/process-host.ts';

/** The surroundings, the same for all servers. */
export interface McpSurroundings {
  readonly processHost: ProcessHost;
  /** Absolute; where relative working directories of stdio servers start from. */
  readonly folder: string;
  readonly limits: Limits;
  /** A server failed, left tools out or changed one: for whoever watches. */
  readonly onNotice: (level: 'info' | 'warning', code: string, message: string) => void;
  /** `tools()` gives another list from now on. */
  readonly onToolsChanged: () => void;
}
