/**
 * A diff, side by side or unified, with the colours of its language.
 */
import { memo, useMemo, useState } from 'react';
import {
  countChanges,
  type DiffLine,
  type DiffRow,
  MAX_DIFF_ROWS,
  splitRows,
  unifiedRows,
} from '../model/diff-rows.ts';
import { languageOf } from '../model/syntax.ts';
import { visible } from '../model/visible.ts';
import type { DiffHunk } from '../model/wire.ts';
import { MAX_LINE_CHARS } from '../model/visible.ts';
import { TEXTS } from '../texts.ts';
import { Choice } from './controls.tsx';
import { useMedia } from './hooks.ts';
import { CodeLine, Line } from './plain-text.tsx';

type DiffView = 'split' | 'unified';

const VIEW_KEY = 'gauntlet.diff';
/** Rows that a diff shows at first. */
const SHOWN_ROWS = 60;

/** Changes of one file. */
export const Diff = memo(function Diff({
  path,
  hunks,
}: {
  readonly path: string;
  readonly hunks: readonly DiffHunk[];
}) {
  const isNarrow = useMedia('(max-width: 760px)');
  const [chosen, setChosen] = useState<DiffView>(
    () => (localStorage.getItem(VIEW_KEY) as DiffView | null) ?? 'unified',
  );
  const [limit, setLimit] = useState(SHOWN_ROWS);
  const view = isNarrow ? 'unified' : chosen;
  const rows = useMemo(() => (view === 'split' ? splitRows(hunks) : unifiedRows(hunks)), [hunks, view]);
  const { added, removed } = useMemo(() => countChanges(hunks), [hunks]);
  const language = languageOf(path);
  const choose = (next: DiffView) => {
    localStorage.setItem(VIEW_KEY, next);
    setChosen(next);
  };
  return (
    <section className="diff" aria-label={TEXTS.diff.label(path.slice(0, 200))}>
      <header className="diff-head">
        <Line text={path} className="diff-path" />
        <span className="diff-counts">
          <span className="count-added">
            +{added}
            <span className="hidden"> {TEXTS.diff.added}</span>
          </span>
          <span className="count-removed">
            −{removed}
            <span className="hidden"> {TEXTS.diff.removed}</span>
          </span>
        </span>
        {!isNarrow && (
          <Choice
            label={TEXTS.diff.view}
            value={view}
            options={[
              ['unified', TEXTS.diff.unified],
              ['split', TEXTS.diff.split],
            ]}
            onChange={choose}
          />
        )}
      </header>
      <div className="diff-rows">
        {rows.length === 0 && <p className="diff-note">{TEXTS.diff.empty}</p>}
        {rows.slice(0, limit).map((row, index) => (
          <DiffRowView key={index} row={row} view={view} language={language} />
        ))}
      </div>
      {rows.length > limit && (
        <button type="button" className="text-button" onClick={() => setLimit(Math.min(limit * 8, MAX_DIFF_ROWS))}>
          {TEXTS.call.moreRows(rows.length - limit)}
        </button>
      )}
    </section>
  );
});

interface RowProps {
  readonly row: DiffRow;
  readonly view: DiffView;
  readonly language: string | undefined;
}

function DiffRowView({ row, view, language }: RowProps) {
  if (row.kind !== 'line') return <div className={`diff-${row.kind}`}>{visible(row.text)}</div>;
  const { left, right } = row;
  if (view === 'split') {
    return (
      <div className="diff-row">
        <DiffSide line={left} language={language} />
        <DiffSide line={right} language={language} />
      </div>
    );
  }
  const line = right ?? left;
  return (
    <div className="diff-row">
      <span className="diff-number">{left?.number ?? ''}</span>
      <span className="diff-number">{right?.number ?? ''}</span>
      {line && <DiffText line={line} language={language} />}
    </div>
  );
}

function DiffSide({ line, language }: { readonly line: DiffLine | undefined; readonly language: string | undefined }) {
  if (line === undefined) return <span className="diff-side blank" />;
  return (
    <span className={`diff-side ${line.kind}`}>
      <span className="diff-number">{line.number}</span>
      <DiffText line={line} language={language} />
    </span>
  );
}

const SIGNS = { same: ' ', added: '+', removed: '−' } as const;

function DiffText({ line, language }: { readonly line: DiffLine; readonly language: string | undefined }) {
  const text = line.text.slice(0, MAX_LINE_CHARS);
  const [from, to] = line.changed ?? [0, 0];
  return (
    <code className={`diff-text ${line.kind}`}>
      <span className="diff-sign">{SIGNS[line.kind]}</span>
      {to > from ? (
        <>
          <CodeLine text={visible(text.slice(0, from))} language={language} />
          <mark>
            <CodeLine text={visible(text.slice(from, to))} language={language} />
          </mark>
          <CodeLine text={visible(text.slice(to))} language={language} />
        </>
      ) : (
        <CodeLine text={visible(text)} language={language} />
      )}
    </code>
  );
}
