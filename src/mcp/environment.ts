/**
 * Parts of this process that the connections to MCP servers use.
 */
import type { TraceHeaders } from '../base/tracing.ts';
import type { CallToolResult } from '@modelcontextprotocol/client';
import type { LimitFunction } from 'p-limit';
import type { Limits } from '../../config/limits.ts';
import type { ProcessHost } from '../process/process-host.ts';
import type { ServerCredentials } from './credentials.ts';
import type { OwnedLinks } from './owned-links.ts';
import type { StoredPins } from './pin-store.ts';
import type { RetryPace } from './retry-pause.ts';
import type { Sampler } from './sampling.ts';
import type { McpServerSettings } from './server-settings.ts';
import type { McpToolDefinition } from './tool-definition.ts';

/** The call that the gate let through: hooks and answers may have changed the input since it was sent. */
export interface AllowedCall {
  /** Name of the server, as configured. */
  readonly server: string;
  readonly toolName: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Tells if the tool may or must be called as a task. */
  readonly execution?: McpToolDefinition['execution'];
  /** Trace of the call, for the `_meta` of the request; empty where nothing is traced. */
  readonly headers: TraceHeaders;
}

/** Sends a call that passed the gate over another connection. @returns What the log keeps. */
export type DelegatedCall = (allowed: AllowedCall, signal: AbortSignal) => Promise<CallToolResult>;

/** Key of a delegated call. */
export function delegateKey(sessionId: string, toolUseId: string): string {
  return `${sessionId} ${toolUseId}`;
}

/** Environment shared by all servers. */
export interface McpEnvironment {
  readonly processHost: ProcessHost;
  /** Absolute path that relative working directories of stdio servers are resolved against. */
  readonly folder: string;
  readonly limits: Limits;
  /** Default: `RETRY_PACE`. */
  readonly pace?: RetryPace;
  /** The model that answers servers; absent: none does. */
  readonly sampler?: Sampler | undefined;
  /** Reports a server that failed, left tools out or changed one. */
  readonly onNotice: (level: 'info' | 'warning', code: string, message: string) => void;
  /** Called when `tools()` returns a new list. */
  readonly onToolsChanged: () => void;
}

/** Options of one server. */
export interface McpServerOptions extends McpEnvironment {
  /** Name of the server, as configured. */
  readonly name: string;
  readonly settings: McpServerSettings;
  /** Definitions that were first seen or approved, in this process or an earlier one. */
  readonly pins: StoredPins;
  /** Credentials of a remote server's OAuth authorization. */
  readonly credentials?: ServerCredentials | undefined;
  /** Bounds the connections that belong to one session each. */
  readonly ownedLinks: OwnedLinks;
  /** Calls that others send to the server in their own way, by `delegateKey`. */
  readonly delegates: ReadonlyMap<string, DelegatedCall>;
  /** Called when its resources or templates may have changed. */
  readonly onResourcesChanged?: () => void;
  /** Limits how many servers connect at the same time. */
  readonly limitConnecting: LimitFunction;
}
