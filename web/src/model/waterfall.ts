/**
 * Timing of the calls of a turn: what ran side by side, and what each call waited for.
 */
import { type Call, toneOf, type CallTone } from './call.ts';

/** Activity of a call during a part of its time. */
export type SegmentKind = 'queued' | 'gate' | 'asked' | 'run' | 'held';

/** A part of a call's time, in milliseconds since the turn began. */
export interface Segment {
  readonly kind: SegmentKind;
  readonly fromMs: number;
  readonly toMs: number;
}

/** One line of a waterfall. */
export interface Bar {
  readonly call: Call;
  readonly depth: number;
  readonly tone: CallTone;
  readonly segments: readonly Segment[];
  readonly totalMs: number;
  /** The call whose end let this one begin, where it waited for one. */
  readonly waitedFor: Call | undefined;
}

/** A drawn turn. */
export interface Waterfall {
  readonly startMs: number;
  readonly lengthMs: number;
  readonly bars: readonly Bar[];
}

/** Bars of one turn that are drawn. */
const MAX_BARS = 500;
/** A wait that is shorter is none. */
const MIN_WAIT_MS = 2;

/** Make the waterfall of some calls. @param nowMs End of what still runs. */
export function waterfallOf(calls: readonly Call[], nowMs: number): Waterfall {
  const flat = flatten(calls, 0).slice(0, MAX_BARS);
  const startMs = Math.min(...flat.map(({ call }) => call.times.acceptedMs));
  const endMs = Math.max(...flat.map(({ call }) => call.times.endedMs ?? nowMs));
  const bars = flat.map(({ call, depth }) => {
    const segments = segmentsOf(call, startMs, nowMs);
    const totalMs = (call.times.endedMs ?? nowMs) - call.times.acceptedMs;
    return { call, depth, segments, totalMs, tone: toneOf(call), waitedFor: predecessorOf(call, flat) };
  });
  return {
    startMs: flat.length > 0 ? startMs : nowMs,
    lengthMs: Math.max(1, flat.length > 0 ? endMs - startMs : 1),
    bars,
  };
}

function flatten(calls: readonly Call[], depth: number): { readonly call: Call; readonly depth: number }[] {
  return calls.flatMap((call) => [{ call, depth }, ...flatten(call.inner, depth + 1)]);
}

function segmentsOf({ times, asked }: Call, startMs: number, nowMs: number): Segment[] {
  const endMs = times.endedMs ?? nowMs;
  const questions = asked.map(({ fromMs, toMs = endMs }) => ({ fromMs, toMs }));
  const gateMs = times.gateMs ?? times.startedMs ?? endMs;
  const startedMs = times.startedMs ?? times.completedMs ?? endMs;
  const completedMs = times.completedMs ?? endMs;
  const segments: Segment[] = [
    { kind: 'queued', fromMs: times.acceptedMs, toMs: gateMs },
    ...around('gate', gateMs, startedMs, questions),
    ...around('run', startedMs, completedMs, questions),
    { kind: 'held', fromMs: completedMs, toMs: endMs },
  ];
  return segments
    .filter(({ fromMs, toMs }) => toMs > fromMs)
    .map(({ kind, fromMs, toMs }) => ({ kind, fromMs: fromMs - startMs, toMs: toMs - startMs }));
}

/** A segment without the times in which a person was asked, and those as segments of their own. */
function around(
  kind: SegmentKind,
  fromMs: number,
  toMs: number,
  questions: readonly { readonly fromMs: number; readonly toMs: number }[],
): Segment[] {
  const segments: Segment[] = [];
  let at = fromMs;
  for (const question of questions) {
    const from = Math.max(at, question.fromMs);
    const to = Math.min(toMs, question.toMs);
    if (to <= from) continue;
    segments.push({ kind, fromMs: at, toMs: from }, { kind: 'asked', fromMs: from, toMs: to });
    at = to;
  }
  return [...segments, { kind, fromMs: at, toMs }];
}

/** The call that ended last before this one left the queue. */
function predecessorOf(call: Call, all: readonly { readonly call: Call }[]): Call | undefined {
  const { acceptedMs, gateMs } = call.times;
  if (gateMs === undefined || gateMs - acceptedMs < MIN_WAIT_MS) return undefined;
  let latest: Call | undefined;
  for (const { call: other } of all) {
    const endMs = other.times.completedMs;
    if (other === call || other.parent !== call.parent || endMs === undefined || endMs > gateMs) continue;
    if (endMs > acceptedMs && endMs > (latest?.times.completedMs ?? 0)) latest = other;
  }
  return latest;
}
