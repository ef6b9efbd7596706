/**
 * Dependencies of the MCP routes, beside those of every route.
 */
import type { DoorContext } from '../dependencies.ts';

/** Dependencies of an MCP server. */
export type McpDoorContext = Pick<
  DoorContext,
  | 'directory'
  | 'limits'
  | 'logger'
  | 'version'
  | 'skills'
  | 'resourceTool'
  | 'preamble'
  | 'onToolsChanged'
  | 'upstreams'
>;
