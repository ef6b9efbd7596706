/**
 * Client of a Gauntlet server.
 */
export { connect } from './client.ts';
export type {
  AnthropicTool,
  ChatTool,
  Client,
  ConnectOptions,
  Explanation,
  ForwardedStream,
  GeminiTool,
  JsonSchema,
  ProviderOf,
  ProviderOfStream,
  Reply,
  ResponsesTool,
  SessionOptions,
  ToolFormats,
  ToolsOptions,
} from './client.ts';
export type {
  AnthropicBlock,
  AnthropicMessage,
  CallSource,
  ChatMessage,
  ChatToolCall,
  GeminiCall,
  Provider,
  ResponsesItem,
} from './calls.ts';
export { GauntletError } from './errors.ts';
export type { Approval, OnProgress, TurnOptions } from './executor.ts';
export type { WebSocketConstructor, WebSocketLike } from './forward.ts';
export type { CallName, OnAsk } from './questions.ts';
export type * from './replies.ts';
export type { RunOptions, RunResult } from './run.ts';
export type { StreamEvent } from './stream-calls.ts';
export type * from './wire.ts';
