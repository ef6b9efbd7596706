/**
 * Converts the reply schemas to JSON Schema. Loaded only for `/openapi.json`: replies are not validated when they are
 * sent.
 */
import * as z from 'zod';
import { DiffHunk, Display, DisplayBlock, FormField } from '../../src/wire/display.ts';
import { ResultContentBlock, ToolResultBlock, ToolUseBlock } from '../../src/wire/blocks.ts';
import { ChangePage, Execution, ListedChange, UndoReply } from '../../src/wire/call-replies.ts';
import { ClientFrameSchema } from '../../src/wire/client-frames.ts';
import { CONTROL_FRAMES } from '../../src/wire/control-frames.ts';
import { DecisionReason } from '../../src/wire/decision.ts';
import { FileState } from '../../src/wire/file-change.ts';
import { CallSummary, FramePosition, LOG_FRAMES } from '../../src/wire/frames.ts';
import { PermissionUpdate, RuleSet, WirePermissionContext } from '../../src/wire/permission-context.ts';
import * as browser from '../../src/wire/console-replies.ts';
import * as mcp from '../../src/wire/mcp-replies.ts';
import { ErrorReply, FullTool, Health, Readiness, ToolEntry, Tools } from '../../src/wire/server-replies.ts';
import * as session from '../../src/wire/session-replies.ts';

const Frame = framesOf(
  Object.fromEntries(
    Object.entries(LOG_FRAMES).map(([name, { shape, description = '' }]) => [
      name,
      z.object({ ...FramePosition.shape, ...shape }).describe(description),
    ]),
  ),
  'A frame of the log of a session',
);
const ControlFrame = framesOf(CONTROL_FRAMES, 'What the server sends over one WebSocket, outside the log');

const REPLIES = {
  ToolUse: ToolUseBlock,
  ToolResult: ToolResultBlock,
  ResultContent: ResultContentBlock,
  Call: CallSummary,
  Execution,
  ResultText: session.ResultTextPage,
  SearchHits: session.SearchHits,
  CallHits: session.CallHits,
  FileState,
  Change: ListedChange,
  Changes: ChangePage,
  Undone: UndoReply,
  RuleSet,
  PermissionContext: WirePermissionContext,
  PermissionUpdate,
  ChangedPermissions: session.ChangedPermissions,
  Session: session.SessionDescription,
  RunningCall: session.RunningCall,
  NewSession: session.NewSession,
  Sessions: session.Sessions,
  DecisionReason,
  Explanation: session.WireExplanation,
  TestedPermissions: session.TestedPermissions,
  Principal: session.Principal,
  Principals: session.Principals,
  Prompt: LOG_FRAMES.PermissionRequestFrame,
  Prompts: session.Prompts,
  AllPrompts: session.AllPrompts,
  Answered: session.AnsweredReply,
  Cancelled: session.Cancelled,
  Ticket: session.Ticket,
  ConsoleTicket: browser.ConsoleTicket,
  ConsoleCredential: browser.ConsoleCredential,
  ConsoleRevoked: browser.ConsoleRevoked,
  Task: session.TaskDescription,
  Tasks: session.Tasks,
  Events: session.EventsHead.extend({ frames: z.array(Frame.union) }),
  SessionExport: z.object({
    session: session.SessionDescription,
    epoch: z.string(),
    frames: z.array(Frame.union),
    gaps: z.array(session.LogGap),
  }),
  Tools,
  ToolEntry,
  Tool: FullTool,
  McpServer: mcp.McpServer,
  McpServers: mcp.McpServers,
  McpLoginBegun: mcp.McpLoginBegun,
  McpLogout: mcp.McpLogout,
  ClientMetadata: mcp.ClientMetadata,
  ProtectedResource: mcp.ProtectedResource,
  Health,
  Readiness,
  Error: ErrorReply,
  Display,
  DisplayBlock,
  DiffHunk,
  FormField,
};

/** The name of a reply, as a route gives it. */
export type ReplyName = keyof typeof REPLIES;

/** The address of a schema in the description. */
export function replyReference(name: string): string {
  return `#/components/schemas/${name}`;
}

/** Convert all reply schemas, by name, with references among them. */
export function replySchemas(): Record<string, object> {
  const registry = z.registry<{ id: string }>();
  const schemas = {
    ...REPLIES,
    Frame: Frame.union,
    ...Frame.kinds,
    ControlFrame: ControlFrame.union,
    ...ControlFrame.kinds,
    ClientFrame: ClientFrameSchema.describe('What a client may send over the WebSocket'),
  };
  for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id });
  const { schemas: described } = z.toJSONSchema(registry, { io: 'input', unrepresentable: 'any', uri: replyReference });
  return Object.fromEntries(
    Object.entries(described).map(([name, { $schema: _dialect, $id: _id, ...schema }]) => [name, schema]),
  );
}

/** A union of frames whose `type` tells which one it is. */
function framesOf(kinds: Readonly<Record<string, z.ZodObject>>, description: string) {
  const mapping = Object.fromEntries(
    Object.entries(kinds).map(([name, { shape }]) => [typeOf(shape), replyReference(name)]),
  );
  const union = z.union(Object.values(kinds)).meta({ description, discriminator: { propertyName: 'type', mapping } });
  return { kinds, union };
}

function typeOf({ type }: z.ZodObject['shape']): string {
  return type instanceof z.ZodLiteral ? String(type.value) : '';
}
