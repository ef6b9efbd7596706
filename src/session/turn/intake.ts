/**
 * Accepts blocks: known ids join the earlier call, new ones are logged and passed to the executor.
 *
 * Either all new blocks of a submission are accepted or none.
 */
import { isDeepStrictEqual } from 'node:util';
import { newId } from '../../base/new-id.ts';
import type { TraceOrigin } from '../../base/tracing.ts';
import type { HandedApproval } from '../../wire/approval.ts';
import type { AssistantMessage, ToolUseBlock } from '../../wire/blocks.ts';
import { GauntletError } from '../../base/errors.ts';
import type { Seq, ToolUseFrame } from '../../wire/frames.ts';
import type { Tool } from '../../tool/tool.ts';
import { turnBudget } from '../../schedule/turn-budget.ts';
import { landAcceptance, toolUseFrame, traceBlock, MAX_SESSION_CALLS } from './acceptance.ts';
import { TURN_SCOPE_ADVICE } from './id-scope.ts';
import { prepareCall } from './prepare-call.ts';
import { recalledBlock } from '../restore/recalled-block.ts';
import type { SessionCore } from '../session-core.ts';
import type { AskPolicy, OnResult } from './call-terms.ts';
import { type Call, endedTurn, type Turn } from './turn.ts';
import { closeTurn, endTurnIfDone } from './yield-results.ts';

/** Blocks for one turn. */
export interface Submission extends AskPolicy {
  /** Absent: a new turn with a generated id. */
  readonly turnId?: string;
  readonly blocks: readonly ToolUseBlock[];
  /** The message that contains them; absent if the blocks came alone. */
  readonly message?: AssistantMessage;
  /** The providers' ids of blocks whose ids the server made, by block id; absent: ids are the client's own. */
  readonly providerIds?: ReadonlyMap<string, string>;
  /** Approvals that were handed in, by block id. */
  readonly approvals?: ReadonlyMap<string, HandedApproval>;
  /** Trace that the blocks belong to. */
  readonly trace?: TraceOrigin | undefined;
  /** True if the turn takes no more blocks after these. */
  readonly isClosed: boolean;
  /** For a child session: called by the call that opened it, with each result when it is sent. */
  readonly onResult?: OnResult;
}

/** A submission that was accepted. */
export interface SubmittedTurn {
  readonly turn: Turn;
  /** Frames of the turn from now on are logged after this one and after those being written. */
  readonly after: Seq;
  /** Calls of the blocks, in block order. */
  readonly calls: readonly Call[];
  /** Calls among them that were known already. */
  readonly replayed: ReadonlySet<Call>;
}

/**
 * Accept blocks.
 *
 * @returns Once new blocks are on disk; they may run already.
 * @throws {GauntletError} `invalid_request` for a repeated id, `conflict` for a known id with another input and for a
 *   turn that has ended, `overloaded`, `log_unavailable`.
 */
export async function acceptBlocks(core: SessionCore, submission: Submission): Promise<SubmittedTurn> {
  if (!submission.onResult) refuseToFeedChild(core);
  refuseDuplicates(submission.blocks);
  const compared = new Set<Call>();
  // Another request may send the same ids while inputs are compared: repeat until no new ones are known.
  for (let known = knownCalls(core, submission); known.some(({ call }) => !compared.has(call));) {
    for (const { call, block } of known) {
      if (call.parentId !== undefined) throw takenId(block.id);
      if (!compared.has(call) && !(await isSameCall(core, call, block))) throw changedInput(block.id, submission);
      compared.add(call);
    }
    known = knownCalls(core, submission);
  }
  return accept(core, submission, compared);
}

async function accept(core: SessionCore, submission: Submission, replayed: ReadonlySet<Call>): Promise<SubmittedTurn> {
  const { ledger, executor, log, pool } = core;
  const fresh = submission.blocks.filter((block) => !ledger.call(block.id));
  refuseTooMany(core, fresh.length);
  const turn = turnFor(core, submission, fresh.length > 0);
  const after = log.head;

  const message: AssistantMessage = submission.message ?? { role: 'assistant', content: submission.blocks };
  const accepted = fresh.map((block) => acceptBlock(core, turn, { block, tool: pool.lookup(block.name) }, submission));
  const landing = accepted.length > 0 ? land(core, accepted) : undefined;
  for (const { call, block } of accepted)
    call.schedule(executor, turn.executorTurn, prepareCall(core, call, { block, message, pool }));
  for (const call of replayed) turn.repeat(call);
  if (submission.isClosed) closeTurn(core, turn);
  else endTurnIfDone(core, turn);

  const calls = submission.blocks.flatMap((block) => ledger.call(block.id) ?? []);
  await Promise.all([landing, ...[...replayed].map(({ accepting }) => accepting)]);
  return { turn, after, calls, replayed };
}

interface Acceptance {
  readonly call: Call;
  readonly block: ToolUseBlock;
  readonly frame: ToolUseFrame;
}

function acceptBlock(
  core: SessionCore,
  turn: Turn,
  { block, tool }: { readonly block: ToolUseBlock; readonly tool: Tool | undefined },
  policy: Submission,
): Acceptance {
  const { onAsk, askTimeoutMs } = policy;
  const providerId = policy.providerIds?.get(block.id);
  const handed = policy.approvals?.get(block.id);
  const approval = handed && { ...handed, cwd: core.context.cwd };
  const given = {
    askPolicy: { onAsk, askTimeoutMs },
    onResult: policy.onResult,
    providerId,
    approval,
    trace: traceBlock(core, policy.trace, { block, tool, turnId: turn.id }),
  };
  const call = core.ledger.addCall(turn.add(block, tool?.name ?? block.name, given));
  turn.loggedAs(!policy.isClosed);
  return { call, block, frame: toolUseFrame(tool, call, block, !policy.isClosed) };
}

/** Write the acceptance to the log; if that fails, none of the calls counts as made. */
function land(core: SessionCore, accepted: readonly Acceptance[]): Promise<void> {
  const calls = accepted.map(({ call }) => call);
  const frames = accepted.map(({ frame }) => frame);
  return landAcceptance(core, core.executor, calls, frames);
}

function turnFor(core: SessionCore, submission: Submission, hasNewBlocks: boolean): Turn {
  const known = submission.turnId === undefined ? undefined : core.ledger.turn(submission.turnId);
  if (known && hasNewBlocks && !known.isOpen) throw endedTurn(known.id);
  return known ?? openTurn(core, submission.turnId);
}

/** Open a new turn. */
export function openTurn(core: SessionCore, turnId: string = newId('turn')): Turn {
  const { turnResultChars } = core.services.limits;
  return core.ledger.addTurn(turnId, core.executor.openTurn(), turnBudget(turnResultChars));
}

function knownCalls(
  core: SessionCore,
  submission: Submission,
): readonly { readonly call: Call; readonly block: ToolUseBlock }[] {
  return submission.blocks.flatMap((block) => {
    const call = core.ledger.call(block.id);
    return call ? [{ call, block }] : [];
  });
}

async function isSameCall(core: SessionCore, call: Call, block: ToolUseBlock): Promise<boolean> {
  const before = call.block ?? (await recalledBlock(core, call));
  return before.name === block.name && isDeepStrictEqual(before.input, block.input);
}

function refuseDuplicates(blocks: readonly ToolUseBlock[]): void {
  const seen = new Set<string>();
  for (const { id } of blocks) {
    if (seen.has(id)) {
      const message = `Two blocks have the id "${id}"; give each call its own`;
      throw new GauntletError('invalid_request', message, { details: { reason: 'duplicate_id', tool_use_id: id } });
    }
    seen.add(id);
  }
}

function refuseTooMany({ id, executor, opened, services }: SessionCore, count: number): void {
  if (executor.unyieldedCount + count > MAX_SESSION_CALLS) {
    throw new GauntletError('overloaded', `Session "${id}" has too many calls waiting; read their results first`);
  }
  const left = count === 0 ? Infinity : (services.callsLeft?.(opened.principal) ?? Infinity);
  if (count <= left) return;
  const message = `Cannot run ${count} more calls: you may have ${Math.max(0, left)} more at once. Send fewer, or wait for some to end`;
  throw new GauntletError('rate_limited', message, { details: { reason: 'calls' } });
}

/** Reject blocks for a child session, except those of the call that opened it. @throws {GauntletError} `conflict` */
export function refuseToFeedChild({ id, opened: { parent } }: SessionCore): void {
  if (!parent) return;
  const message = `Session "${id}" belongs to call "${parent.tool_use_id}" of session "${parent.session_id}", which alone runs calls in it`;
  throw new GauntletError('conflict', message, { details: { reason: 'child_session' } });
}

/** Error for a block whose id the server gave to an inner call. */
function takenId(toolUseId: string): GauntletError {
  return new GauntletError('conflict', `"${toolUseId}" is the id of an inner call of this session; use another id`, {
    details: { reason: 'inner_call', tool_use_id: toolUseId },
  });
}

/** Error for a known id with another input. */
function changedInput(toolUseId: string, { providerIds, turnId }: Submission): GauntletError {
  const advice = providerIds
    ? `give a new assistant message a "turn_id" other than "${turnId}"`
    : `use a new id; ${TURN_SCOPE_ADVICE}`;
  return new GauntletError('conflict', `Call "${toolUseId}" was sent before with another input; ${advice}`, {
    details: { reason: 'input_changed', tool_use_id: toolUseId },
  });
}
