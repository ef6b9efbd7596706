/**
 * Control frames: what the server sends over one connection, outside the log (PROTOCOL section 5).
 *
 * The descriptions document each type, and they are public: `/openapi.json` and `docs/frames.md` are made from them.
 */
import * as z from 'zod';
import { CallIdSchema, IdSchema } from './block-schema.ts';
import { ToolResultBlock } from './blocks.ts';
import { CallSummary, PermissionRequestFrame } from './frames.ts';
import { WireError } from './server-replies.ts';
import { EventsHead, LogGap, RunningCall } from './session-replies.ts';
import { Count, Json } from './values.ts';
import type { Wire } from './wire-type.ts';

export type WelcomeFrame = Wire<typeof WelcomeFrame>;
export const WelcomeFrame = z
  .object({
    type: z.literal('welcome'),
    protocol: z.string().describe('The subprotocol that is spoken'),
    session_id: IdSchema.describe('The session'),
    epoch: EventsHead.shape.epoch,
    first: EventsHead.shape.first,
    head: EventsHead.shape.head,
    resumed: z.boolean().describe('False: `from_seq` or `epoch` is unknown, and all frames are sent'),
    pending: z.array(PermissionRequestFrame).describe('Open questions'),
    running: z.array(RunningCall).describe('Calls without a result'),
    limits: z
      .object({
        message_bytes: Count.describe('Longest message that a client may send'),
        json_depth: Count.describe('Deepest nesting of a message'),
        tool_use_concurrency: Count.describe('Calls that may run side by side'),
        ping_ms: Count.describe('Time between two pings'),
        slow_reader_ms: Count.describe('A client that reads nothing for this long is closed'),
      })
      .describe('What the connection is bounded by'),
  })
  .describe('The answer to `hello`');

export type LiveFrame = Wire<typeof LiveFrame>;
export const LiveFrame = z
  .object({ type: z.literal('live'), seq: Count.describe('The last frame of the log; 0: there is none') })
  .describe('Everything that was missed has been sent: frames now come as they happen');

export type GapFrame = Wire<typeof GapFrame>;
export const GapFrame = z
  .object({
    type: z.literal('gap'),
    ...LogGap.shape,
    reason: z
      .enum([...LogGap.shape.reason.options, 'coalesced'])
      .describe(
        '`retention`: deleted for its age; `corrupt`: damaged on disk; `coalesced`: progress left out for a slow reader',
      ),
  })
  .describe('Frames that will not be sent');

export type ReplayFrame = Wire<typeof ReplayFrame>;
export const ReplayFrame = z
  .object({
    type: z.literal('replay'),
    tool_use_id: CallIdSchema.describe('The call'),
    tool_result: ToolResultBlock.describe('The stored result, for the model'),
    call: CallSummary,
  })
  .describe('A block was sent that has a result already');

export type ErrorFrame = Wire<typeof ErrorFrame>;
export const ErrorFrame = z
  .object({
    type: z.literal('error'),
    code: WireError.shape.code.describe('What went wrong, as one word'),
    message: WireError.shape.message,
    path: z.string().optional().describe('The field that is wrong'),
    details: WireError.shape.details,
    tool_use_id: z
      .string()
      .optional()
      .describe('The call that the refused frame is about; an id that is not valid comes back as it was sent'),
    request_id: z.string().optional().describe('The question that the refused frame is about'),
  })
  .describe('A frame of the client was refused; the connection stays');

export type PongFrame = Wire<typeof PongFrame>;
export const PongFrame = z
  .object({ type: z.literal('pong'), t: Json.optional().describe('The `t` of the `ping`') })
  .describe('The answer to `ping`');

export type ByeFrame = Wire<typeof ByeFrame>;
export const ByeFrame = z
  .object({
    type: z.literal('bye'),
    code: z.int().describe('Close code'),
    reason: z.string().describe('Why the connection is closed, as one word'),
    retry_ms: Count.describe('Time to wait before connecting again'),
  })
  .describe('The connection is about to be closed');

/** Control frames by the names of their schemas. */
export const CONTROL_FRAMES = { WelcomeFrame, LiveFrame, GapFrame, ReplayFrame, ErrorFrame, PongFrame, ByeFrame };

/** A frame that belongs to one connection and has no `seq`. */
export type ControlFrame = Wire<(typeof CONTROL_FRAMES)[keyof typeof CONTROL_FRAMES]>;
