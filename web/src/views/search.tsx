/**
 * Full-text search over everything that the caller's sessions kept.
 */
import { useState } from 'react';
import { hrefOf, type Place } from '../model/deep-link.ts';
import type { SearchHit } from '../model/wire.ts';
import { clock } from '../model/quantities.ts';
import { useConsole } from '../parts/console.tsx';
import { Button, Empty, Field, Problem, ViewHead } from '../parts/controls.tsx';
import { useAction, useWatched } from '../parts/hooks.ts';
import { Line } from '../parts/plain-text.tsx';
import { TEXTS } from '../texts.ts';

const STATUSES = ['ok', 'denied', 'error', 'cancelled', 'interrupted', 'running'] as const;
const PAGE = 50;
/** Hits that are kept in view. */
const MAX_HITS = 1_000;

interface Filters {
  readonly q: string;
  readonly tool: string;
  readonly status: string;
  readonly file: string;
  readonly session_id: string;
}

interface Found {
  readonly hits: readonly SearchHit[];
  readonly next_cursor?: string;
}

/** Search. */
export function SearchView({ place }: { readonly place: Place }) {
  const { server } = useConsole();
  const [filters, setFilters] = useState<Filters>({
    ...{ q: place.query ?? '', tool: '', status: '', file: '' },
    session_id: place.sessionId ?? '',
  });
  const [found, setFound] = useState<Found>();
  const search = useAction(async (cursor?: string) => {
    const set = Object.entries(filters).filter(([, value]) => value !== '');
    const query = new URLSearchParams([...set, ['limit', String(PAGE)], ...(cursor ? [['cursor', cursor]] : [])]);
    const page = await server.request<Found>('GET', `/search?${query.toString()}`);
    setFound((old) => (cursor && old ? { ...page, hits: [...old.hits, ...page.hits].slice(-MAX_HITS) } : page));
  });
  const change = (name: keyof Filters) => (event: { target: { value: string } }) =>
    setFilters((old) => ({ ...old, [name]: event.target.value }));
  return (
    <div className="page">
      <ViewHead title={TEXTS.search.title} />
      <form
        className="search-form"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          search.run();
        }}
      >
        <Field label={TEXTS.search.query}>
          {(ids) => (
            <input
              {...ids}
              type="search"
              placeholder={TEXTS.search.placeholder}
              value={filters.q}
              onChange={change('q')}
            />
          )}
        </Field>
        <FilterFields filters={filters} change={change} />
        <Button type="submit" look="primary" icon="search" disabled={search.isBusy}>
          {TEXTS.search.button}
        </Button>
      </form>
      <Problem>{search.problem}</Problem>
      {!found && <p className="muted">{TEXTS.search.help}</p>}
      {found?.hits.length === 0 && <Empty title={TEXTS.search.none} icon="search" />}
      {found && found.hits.length > 0 && <Hits found={found} />}
      {found?.next_cursor && (
        <Button disabled={search.isBusy} onClick={() => search.run(found.next_cursor)}>
          {TEXTS.search.more}
        </Button>
      )}
    </div>
  );
}

interface FilterProps {
  readonly filters: Filters;
  change(name: keyof Filters): (event: { target: { value: string } }) => void;
}

function FilterFields({ filters, change }: FilterProps) {
  const { list } = useConsole();
  const { sessions } = useWatched(list.state);
  return (
    <div className="filters">
      <Field label={TEXTS.search.tool}>
        {(ids) => <input {...ids} type="text" value={filters.tool} onChange={change('tool')} />}
      </Field>
      <Field label={TEXTS.search.status}>
        {(ids) => (
          <select {...ids} value={filters.status} onChange={change('status')}>
            <option value="">{TEXTS.search.any}</option>
            {STATUSES.map((status) => (
              <option key={status} value={status}>
                {status}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label={TEXTS.search.file}>
        {(ids) => <input {...ids} type="text" className="mono" value={filters.file} onChange={change('file')} />}
      </Field>
      <Field label={TEXTS.search.session}>
        {(ids) => (
          <select {...ids} value={filters.session_id} onChange={change('session_id')}>
            <option value="">{TEXTS.search.any}</option>
            {sessions.map(({ session_id: id, title, cwd }) => (
              <option key={id} value={id}>
                {(title ?? cwd).slice(0, 80)}
              </option>
            ))}
          </select>
        )}
      </Field>
    </div>
  );
}

function Hits({ found: { hits, next_cursor: next } }: { readonly found: Found }) {
  return (
    <>
      <p className="muted" role="status">
        {TEXTS.search.hits(hits.length, next !== undefined)}
      </p>
      <ul className="hits">
        {hits.map(({ session_id: sessionId, seq, ts, tool_use_id: callId, name, status, excerpt }) => (
          <li key={`${sessionId} ${seq}`}>
            <a href={hrefOf({ view: 'sessions', sessionId, callId })}>
              <span className="hit-head">
                <Line text={name} className="call-name" />{' '}
                <span className={`state ${status ?? 'running'}`}>{status ?? TEXTS.call.tones.running}</span>
                <time dateTime={ts}>{`${new Date(ts).toLocaleDateString()} ${clock(ts)}`}</time>
              </span>
              <Line text={excerpt} className="hit-excerpt" />
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}
