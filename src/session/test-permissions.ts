/**
 * Tests permissions against history: how the latest calls would be decided before and after a change, without making it.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isGauntletError } from '../base/errors.ts';
import type { PermissionUpdate } from '../wire/permission-context.ts';
import type { ToolUseFrame } from '../wire/frames.ts';
import type { TestedCall, TestedPermissions } from '../wire/session-replies.ts';
import { explainUnder } from './explain-call.ts';
import { askedText } from './search/call-text.ts';
import type { SessionCore } from './session-core.ts';

/** Time for one test: each decision blocks the event loop for a moment. */
const MAX_TEST_MS = 3_000;

/** Frames that are looked at for calls: the newest first, then four times as many each time. */
const FIRST_FRAMES = 2_000;
const MAX_FRAMES = 50_000;

/** Text of one call that is shown. */
const MAX_TEXT_CHARS = 300;

/** Bounds of one test. */
export interface TestOptions {
  /** Number of calls. */
  readonly limit: number;
  readonly signal: AbortSignal;
}

/**
 * Decide about the latest calls of a session under its permissions and under those that `updates` would make.
 *
 * Calls that no tool takes any more are left out.
 *
 * @throws {GauntletError} As `SessionCore.permissionsAfter`.
 */
export async function testPermissions(
  core: SessionCore,
  updates: readonly PermissionUpdate[],
  { limit, signal }: TestOptions,
): Promise<TestedPermissions> {
  const before = core.context;
  const after = { ...before, permissions: core.permissionsAfter(updates) };
  const latest = await latestCalls(core, limit);
  const giveUpAtMs = performance.now() + MAX_TEST_MS;
  const calls: TestedCall[] = [];
  let leftOut = 0;
  for (const { seq, tool_use: block } of latest) {
    if (signal.aborted || performance.now() > giveUpAtMs) break;
    try {
      const [was, now] = [
        await explainUnder(core, before, block.name, block.input),
        await explainUnder(core, after, block.name, block.input),
      ];
      const text = askedText(block).slice(0, MAX_TEXT_CHARS);
      const outcomes = { before: outcomeOf(was), after: outcomeOf(now), changed: was.behavior !== now.behavior };
      calls.push({ seq, tool_use_id: block.id, name: block.name, text, ...outcomes });
    } catch (error) {
      if (!isGauntletError(error, 'invalid_request')) throw error;
      leftOut += 1;
    }
    await nextTurn();
  }
  const changed = calls.filter((call) => call.changed).length;
  return { calls, changed, left_out: leftOut, complete: calls.length + leftOut === latest.length };
}

function outcomeOf({ behavior, reason }: Awaited<ReturnType<typeof explainUnder>>): TestedCall['before'] {
  return { behavior, reason };
}

type LoggedCall = ToolUseFrame & { readonly seq: number };

/** Return the latest calls, the newest first. */
async function latestCalls(core: SessionCore, limit: number): Promise<readonly LoggedCall[]> {
  const { log } = core.services;
  const { first, head } = log.bounds(core.id) ?? { first: 1, head: 0 };
  for (let frames = FIRST_FRAMES; ; frames *= 4) {
    const after = Math.max(first - 1, head - Math.min(frames, MAX_FRAMES));
    const calls: LoggedCall[] = [];
    for await (const page of log.read(core.id, after, { live: false, onGap: () => undefined })) {
      for (const { type, frame } of page) if (type === 'tool_use' && frame.type === 'tool_use') calls.push(frame);
      calls.splice(0, calls.length - limit);
    }
    if (calls.length === limit || after < first || frames >= MAX_FRAMES) return calls.toReversed();
  }
}
