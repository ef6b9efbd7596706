/**
 * Timing of a turn as a waterfall: what ran side by side, and what waited for what.
 */
import { useMemo, useState } from 'react';
import type { SessionFeed } from '../api/session-feed.ts';
import { hrefOf } from '../model/deep-link.ts';
import { duration } from '../model/quantities.ts';
import { type Bar, type SegmentKind, waterfallOf } from '../model/waterfall.ts';
import { Empty, Field } from '../parts/controls.tsx';
import { useNow } from '../parts/hooks.ts';
import { Icon, TONE_ICONS } from '../parts/icons.tsx';
import { Line } from '../parts/plain-text.tsx';
import { TEXTS } from '../texts.ts';

const KINDS: readonly SegmentKind[] = ['queued', 'gate', 'asked', 'run', 'held'];
/** Turns that can be chosen. */
const MAX_TURNS = 1_000;

/** Timing of a session's turns. */
export function Timing({ feed }: { readonly feed: SessionFeed }) {
  const { model, sessionId } = feed;
  const turns = [...model.turns.values()].slice(-MAX_TURNS).reverse();
  const [turnId, setTurnId] = useState<string>();
  const turn = turns.find(({ id }) => id === turnId) ?? turns[0];
  const isOver = turn?.calls.every((call) => call.isDone) === true;
  const nowMs = useNow(isOver ? 60_000 : 500);
  const drawn = useMemo(() => waterfallOf(turn?.calls ?? [], nowMs), [turn, model.version, nowMs]);
  if (!turn || drawn.bars.length === 0) return <Empty title={TEXTS.waterfall.empty} icon="running" />;
  return (
    <section className="timing" tabIndex={0} role="region" aria-label={TEXTS.waterfall.title}>
      <div className="timing-head">
        <Field label={TEXTS.waterfall.turn}>
          {(ids) => (
            <select {...ids} value={turn.id} onChange={(event) => setTurnId(event.target.value)}>
              {turns.map(({ id, number, calls }) => (
                <option key={id} value={id}>
                  {TEXTS.session.turn(number)} · {TEXTS.call.groupOf(calls.length)}
                </option>
              ))}
            </select>
          )}
        </Field>
        <ul className="legend">
          {KINDS.map((kind) => (
            <li key={kind}>
              <span className={`swatch ${kind}`} aria-hidden="true" /> {TEXTS.waterfall.segments[kind]}
            </li>
          ))}
        </ul>
      </div>
      <table className="waterfall">
        <thead>
          <tr>
            <th scope="col">{TEXTS.waterfall.call}</th>
            <th scope="col">
              <span className="scale">
                <span>0</span>
                <span>{duration(drawn.lengthMs / 2)}</span>
                <span>{duration(drawn.lengthMs)}</span>
              </span>
            </th>
            <th scope="col">{TEXTS.waterfall.total}</th>
          </tr>
        </thead>
        <tbody>
          {drawn.bars.map((bar) => (
            <BarRow key={bar.call.id} bar={bar} lengthMs={drawn.lengthMs} sessionId={sessionId} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function BarRow({
  bar,
  lengthMs,
  sessionId,
}: {
  readonly bar: Bar;
  readonly lengthMs: number;
  readonly sessionId: string;
}) {
  const { call, depth, segments, totalMs, waitedFor, tone } = bar;
  const percent = (ms: number) => `${(100 * ms) / lengthMs}%`;
  const words = wordsOf(bar);
  return (
    <tr className={`tone-${tone}`}>
      <th scope="row" style={{ paddingInlineStart: `${8 + depth * 16}px` }}>
        <a href={hrefOf({ view: 'sessions', sessionId, callId: call.id })}>
          <Icon name={TONE_ICONS[tone]} size={13} /> <Line text={call.display?.title ?? call.name} />
        </a>
        {waitedFor && (
          <span className="waited">
            <Line text={TEXTS.waterfall.waited(waitedFor.display?.title ?? waitedFor.name)} />
          </span>
        )}
      </th>
      <td>
        <span className="track" role="img" aria-label={words} title={words}>
          {segments.map(({ kind, fromMs, toMs }) => (
            <span
              key={`${kind}${fromMs}`}
              className={`segment ${kind}`}
              style={{ insetInlineStart: percent(fromMs), width: percent(toMs - fromMs) }}
            />
          ))}
        </span>
      </td>
      <td className="number">{duration(totalMs)}</td>
    </tr>
  );
}

/** Meaning of a bar, in words. */
function wordsOf({ segments, totalMs }: Bar): string {
  const parts = segments.map(
    ({ kind, fromMs, toMs }) => `${TEXTS.waterfall.segments[kind]} ${duration(toMs - fromMs)}`,
  );
  return parts.join(', ') || duration(totalMs);
}
