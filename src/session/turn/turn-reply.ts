/**
 * Returns a turn to its sender: the results in block order, or the frames as they happen.
 *
 * Both read from the log, like every other route.
 */
import type { NewMessage, ToolResultBlock } from '../../wire/blocks.ts';
import type { JsonObject } from '../../base/json.ts';
import { GauntletError } from '../../base/errors.ts';
import type { CallSummary, Frame, ResultFrame, Seq } from '../../wire/frames.ts';
import type { LoggedFrame } from '../../log/frame-log.ts';
import type { SubmittedTurn } from './intake.ts';
import { loggedFrame } from './logged-frame.ts';
import { noLongerKept } from '../restore/recalled-block.ts';
import type { SessionCore } from '../session-core.ts';

/** Result of a closed turn. */
export interface TurnReply {
  readonly turnId: string;
  /** One a block, in block order. */
  readonly results: readonly ToolResultBlock[];
  readonly calls: readonly CallSummary[];
  /** Messages that tools add to the conversation, after the results. */
  readonly newMessages: readonly NewMessage[];
  /** Answers of MCP servers, as far as results leave parts of them out; one a block. */
  readonly mcpResults: readonly (JsonObject | undefined)[];
}

/**
 * Wait for all results of a submission.
 *
 * @param signal Aborted when the client disconnects: rejects with its reason; the turn continues.
 */
export async function collectTurn(core: SessionCore, turn: SubmittedTurn, signal: AbortSignal): Promise<TurnReply> {
  const results = await storedResults(core, turn);
  const missing = new Set(turn.calls.flatMap(({ toolUseId }) => (results.has(toolUseId) ? [] : [toolUseId])));
  if (missing.size > 0) {
    for await (const page of core.services.log.read(core.id, turn.after, { live: true, signal })) {
      for (const logged of page) {
        if (logged.type !== 'result') continue;
        const frame = logged.frame as ResultFrame;
        if (missing.delete(frame.tool_use_id)) results.set(frame.tool_use_id, frame);
      }
      if (missing.size === 0) break;
    }
  }
  if (missing.size > 0) throw unfinished(core, signal);

  const frames = turn.calls.flatMap(({ toolUseId }) => results.get(toolUseId) ?? []);
  const replayed = new Set([...turn.replayed].map(({ toolUseId }) => toolUseId));
  return {
    turnId: turn.turn.id,
    results: frames.map(({ tool_result }) => tool_result),
    calls: frames.map(({ call }) => (replayed.has(call.tool_use_id) ? { ...call, replayed: true } : call)),
    newMessages: frames.flatMap(({ new_messages }) => new_messages ?? []),
    mcpResults: frames.map(({ mcp_result: sent }) => sent as JsonObject | undefined),
  };
}

/**
 * Yield the frames of a turn as they happen, ending with its `turn_end`; repeated results come first.
 *
 * @param signal Ends the frames early.
 */
export async function* turnFrames(
  core: SessionCore,
  turn: SubmittedTurn,
  signal: AbortSignal,
): AsyncGenerator<readonly LoggedFrame[]> {
  const { endSeq } = turn.turn;
  for (const { resultSeq } of turn.replayed) {
    if (resultSeq === undefined || resultSeq > turn.after) continue;
    yield* storedPage(core, resultSeq);
  }
  if (endSeq !== undefined && endSeq <= turn.after) {
    yield* storedPage(core, endSeq);
    return;
  }
  const ids = new Set(turn.calls.map(({ toolUseId }) => toolUseId));
  for await (const page of core.services.log.read(core.id, turn.after, { live: true, signal })) {
    const own = page.filter(({ frame }) => {
      if (!belongsTo(frame, turn.turn.id, ids)) return false;
      // Later frames of an inner call contain only its own id.
      if (frame.type === 'tool_use') ids.add(frame.tool_use.id);
      return true;
    });
    const end = own.findIndex(({ type }) => type === 'turn_end');
    if (own.length > 0) yield end === -1 ? own : own.slice(0, end + 1);
    if (end !== -1) return;
  }
}

function belongsTo(frame: Frame, turnId: string, ids: ReadonlySet<string>): boolean {
  if ('turn_id' in frame && frame.turn_id === turnId) return true;
  if ('tool_use_id' in frame && typeof frame.tool_use_id === 'string' && ids.has(frame.tool_use_id)) return true;
  // A question of a child session names the child's call, and the call that opened the child.
  return 'parent_tool_use_id' in frame && frame.parent_tool_use_id !== undefined && ids.has(frame.parent_tool_use_id);
}

async function storedResults(core: SessionCore, turn: SubmittedTurn): Promise<Map<string, ResultFrame>> {
  const results = new Map<string, ResultFrame>();
  for (const { toolUseId, resultSeq } of turn.replayed) {
    if (resultSeq === undefined) continue;
    const frame = (await loggedFrame(core, resultSeq))?.frame;
    if (frame?.type !== 'result') throw noLongerKept(toolUseId);
    results.set(toolUseId, frame);
  }
  return results;
}

async function* storedPage(core: SessionCore, seq: Seq): AsyncGenerator<readonly LoggedFrame[]> {
  const logged = await loggedFrame(core, seq);
  if (logged) yield [logged];
}

function unfinished(core: SessionCore, signal: AbortSignal): GauntletError {
  return signal.aborted
    ? new GauntletError('cancelled', 'The client went away before the results were there')
    : new GauntletError('gone', `Session "${core.id}" ended before the results were there`);
}
