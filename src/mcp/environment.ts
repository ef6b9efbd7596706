/**
 * What MCP servers are given of the server they lend their tools to.
 */
import type { LimitFunction } from 'p-limit';
import type { Limits } from '../../config/limits.ts';
import type { ProcessHost } from '../process/process-host.ts';
import type { StoredPins } from './pin-store.ts';
import type { McpServerSettings } from './server-settings.ts';

/** The environment, the same for all servers. */
export interface McpEnvironment {
  readonly processHost: ProcessHost;
  /** Absolute; where relative working directories of stdio servers start from. */
  readonly folder: string;
  readonly limits: Limits;
  /** A server failed, left tools out or changed one: for whoever watches. */
  readonly onNotice: (level: 'info' | 'warning', code: string, message: string) => void;
  /** `tools()` gives another list from now on. */
  readonly onToolsChanged: () => void;
}

/** What one server is made from. */
export interface McpServerOptions extends McpEnvironment {
  /** As configured. */
  readonly name: string;
  readonly settings: McpServerSettings;
  /** Definitions that were seen first or let through, in this life and earlier ones. */
  readonly pins: StoredPins;
  /** Starts the work it is given when few enough others run; shared by all servers while they connect. */
  readonly limitConnecting: LimitFunction;
}
