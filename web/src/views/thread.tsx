/**
 * The calls of a session in order, however many: only those in view are drawn.
 */
import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { SessionFeed } from '../api/session-feed.ts';
import type { Row } from '../model/call.ts';
import { clock } from '../model/quantities.ts';
import { CallCard, type CardContext } from '../parts/call-card.tsx';
import { Button, Empty } from '../parts/controls.tsx';
import { useKeys } from '../parts/hooks.ts';
import { Icon } from '../parts/icons.tsx';
import { Line } from '../parts/plain-text.tsx';
import { TEXTS } from '../texts.ts';

/** Height of a row before it was measured, in pixels; of a group, its head and each of its lines. */
const ROW_HEIGHT = { turn: 34, calls: 120, notice: 40, undo: 40, groupHead: 45, groupLine: 39 } as const;
/** This near the end, the thread follows what comes. */
const END_PX = 120;

interface Props {
  readonly feed: SessionFeed;
  readonly callId: string | undefined;
}

/** The thread. */
export function Thread({ feed, callId }: Props) {
  const { model } = feed;
  const box = useRef<HTMLDivElement>(null);
  const [isAtEnd, setAtEnd] = useState(callId === undefined);
  const context = useCardContext(feed, callId);
  const virtualizer = useVirtualizer({
    count: model.rows.length,
    getScrollElement: () => box.current,
    estimateSize: (index) => estimatedHeight(model.rows[index]),
    getItemKey: (index) => model.rows[index]?.key ?? index,
    overscan: 6,
  });
  useScroll({ feed, callId, box, virtualizer, isAtEnd, setAtEnd });
  const seen = useRef({ scrollTop: 0, scrollHeight: 0 });
  const [chosen, setChosen] = useState(-1);
  const move = (step: number) => {
    const next = Math.min(model.rows.length - 1, Math.max(0, (chosen < 0 ? model.rows.length : chosen) + step));
    setChosen(next);
    virtualizer.scrollToIndex(next, { align: 'auto' });
    // Drawn by then; Enter opens and closes what has the focus.
    setTimeout(() => focusRow(box.current, next), 50);
  };
  const jump = (index: number, align: 'start' | 'end') => {
    setAtEnd(align === 'end');
    virtualizer.scrollToIndex(index, { align });
  };
  // The browser's own way there would end where rows on it turn out higher than estimated.
  useKeys({
    ...{ j: () => move(1), k: () => move(-1) },
    ...{ Home: () => jump(0, 'start'), End: () => jump(model.rows.length - 1, 'end') },
  });
  if (model.rows.length === 0) return <EmptyThread feed={feed} />;
  return (
    <div className="thread-frame">
      <div
        ref={box}
        className="thread"
        tabIndex={0}
        role="region"
        aria-label={TEXTS.session.tabs.thread}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          const before = seen.current;
          seen.current = { scrollTop, scrollHeight };
          // Rows that turn out higher than estimated move the end away; only a reader who goes up has left it.
          if (before.scrollTop - scrollTop > Math.max(0, before.scrollHeight - scrollHeight) + 1) setAtEnd(false);
          else if (scrollHeight - scrollTop - clientHeight < END_PX) setAtEnd(true);
        }}
      >
        <Rows {...{ model, virtualizer, chosen, context }} />
      </div>
      {!isAtEnd && (
        <Button className="to-end" icon="down" onClick={() => jump(model.rows.length - 1, 'end')}>
          {TEXTS.session.toEnd}
        </Button>
      )}
    </div>
  );
}

function estimatedHeight(row: Row | undefined): number {
  if (row?.kind !== 'calls' || row.calls.length === 1) return ROW_HEIGHT[row?.kind ?? 'calls'];
  return ROW_HEIGHT.groupHead + row.calls.length * ROW_HEIGHT.groupLine;
}

function focusRow(box: HTMLElement | null, index: number): void {
  box?.querySelector<HTMLElement>(`[data-index="${index}"] .call-title`)?.focus({ preventScroll: true });
}

type Virtualizer = ReturnType<typeof useVirtualizer<HTMLDivElement, Element>>;

interface RowsProps {
  readonly model: SessionFeed['model'];
  readonly virtualizer: Virtualizer;
  readonly chosen: number;
  readonly context: CardContext;
}

function Rows({ model, virtualizer, chosen, context }: RowsProps) {
  return (
    <div className="thread-rows" style={{ height: virtualizer.getTotalSize() }}>
      {virtualizer.getVirtualItems().map(({ index, key, start }) => {
        const row = model.rows[index];
        return (
          <div
            key={key}
            ref={virtualizer.measureElement}
            data-index={index}
            className={`row ${index === chosen ? 'chosen' : ''}`}
            style={{ transform: `translateY(${start}px)` }}
          >
            {row && <RowView row={row} version={versionOf(row)} context={context} />}
          </div>
        );
      })}
    </div>
  );
}

interface Scroll {
  readonly feed: SessionFeed;
  readonly callId: string | undefined;
  readonly box: React.RefObject<HTMLDivElement | null>;
  readonly virtualizer: Virtualizer;
  readonly isAtEnd: boolean;
  setAtEnd(isAtEnd: boolean): void;
}

/** Follow the end while the reader is there, and go to the call that the address names once it is known. */
function useScroll({ feed, callId, box, virtualizer, isAtEnd, setAtEnd }: Scroll): void {
  const total = virtualizer.getTotalSize();
  const shown = useRef<string>(undefined);
  const turnId = callId === undefined ? undefined : feed.model.calls.get(callId)?.turnId;
  useEffect(() => {
    if (callId === undefined || turnId === undefined || shown.current === callId) return;
    const index = feed.model.rows.findIndex((row) => row.kind === 'calls' && row.calls.some(({ id }) => id === callId));
    if (index < 0) return;
    shown.current = callId;
    setAtEnd(false);
    virtualizer.scrollToIndex(index, { align: 'center' });
  }, [callId, turnId, feed, virtualizer]);
  useEffect(() => {
    if (isAtEnd && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [total, isAtEnd, box]);
}

function useCardContext(feed: SessionFeed, callId: string | undefined): CardContext {
  const { model, sessionId } = feed;
  const isLinked = useCallback((id: string) => id === callId, [callId]);
  return useMemo(
    () => ({ sessionId, questions: model.questions, tasks: model.tasks, isLinked }),
    [sessionId, model, isLinked],
  );
}

function versionOf(row: Row): number {
  return row.kind === 'calls' ? row.calls.reduce((sum, call) => sum + call.version + 1, 0) : 0;
}

const RowView = memo(function RowView({ row, context }: { row: Row; version: number; context: CardContext }) {
  switch (row.kind) {
    case 'turn':
      return (
        <h2 className="turn">
          {TEXTS.session.turn(row.number)} <time dateTime={row.ts}>{clock(row.ts)}</time>
        </h2>
      );
    case 'notice':
      return (
        <p className={`note ${row.level}`}>
          <Icon name={row.level === 'info' ? 'explain' : 'warning'} />
          <Line text={row.text} />
        </p>
      );
    case 'undo':
      return (
        <p className="note">
          <Icon name="back" />
          <Line text={TEXTS.session.undone(row.frame.files.length, row.frame.by)} />
        </p>
      );
    case 'calls':
      return <Calls row={row} context={context} />;
  }
});

/** One call, or several of a group that stand together as lines of one card. */
function Calls({ row, context }: { readonly row: Extract<Row, { kind: 'calls' }>; readonly context: CardContext }) {
  const [first] = row.calls;
  if (!first || row.calls.length === 1)
    return first && <CallCard call={first} version={first.version} context={context} />;
  return (
    <section className="group" aria-label={first.display?.group?.title}>
      <p className="group-head">
        <Line text={first.display?.group?.title ?? first.name} /> <span>{TEXTS.call.groupOf(row.calls.length)}</span>
      </p>
      {row.calls.map((call) => (
        <CallCard key={call.id} call={call} version={call.version} context={context} isCondensed />
      ))}
    </section>
  );
}

function EmptyThread({ feed }: { readonly feed: SessionFeed }) {
  if (feed.state !== 'live') return <p className="loading">{TEXTS.connection[feed.state]}</p>;
  return (
    <Empty title={TEXTS.session.empty} icon="sessions">
      {TEXTS.session.emptyHelp}
    </Empty>
  );
}
