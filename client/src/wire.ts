/**
 * Types of the wire, as the server states them. The build prints them out, so that the package stands alone.
 */
export type { WireAnswer as Answer } from '../../src/wire/client-frames.ts';
export type { NewMessage, ResultContentBlock, ToolResultBlock, ToolUseBlock } from '../../src/wire/blocks.ts';
export type { CallSummary, Frame, PermissionRequestFrame as Question } from '../../src/wire/frames.ts';
export type { PermissionMode, PermissionUpdate, RuleSet } from '../../src/wire/permission-context.ts';
export type { SessionDescription } from '../../src/wire/session-replies.ts';
