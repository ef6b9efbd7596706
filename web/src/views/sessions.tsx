/**
 * The live list of sessions, beside the one that is open where the page is wide enough.
 */
import { memo, useDeferredValue, useMemo, useState } from 'react';
import type { Server } from '../api/server.ts';
import type { SessionRecord } from '../api/session-list.ts';
import { goTo, useKeys, useLoaded, useNow, useWatched } from '../parts/hooks.ts';
import { hrefOf, type Place } from '../model/deep-link.ts';
import { age, shortPath } from '../model/quantities.ts';
import { useConsole } from '../parts/console.tsx';
import { Button, Choice, Empty, Problem, ViewHead } from '../parts/controls.tsx';
import { Icon } from '../parts/icons.tsx';
import { Line } from '../parts/plain-text.tsx';
import { TEXTS } from '../texts.ts';
import { NewSession } from './new-session.tsx';
import { SessionView } from './session.tsx';

/** Pages that one search reads, and sessions that are enough to look at. */
const MAX_PAGES = 20;
const ENOUGH = 100;

type Shown = 'active' | 'archived' | 'all';

/** Sessions. */
export function SessionsView({ place }: { readonly place: Place }) {
  const { sessionId } = place;
  return (
    <div className={`split ${sessionId ? 'has-detail' : ''}`}>
      <section className="split-list" aria-label={TEXTS.sessions.title}>
        <List openId={sessionId} />
      </section>
      <div className="split-detail">
        {sessionId ? (
          <SessionView key={sessionId} place={place} />
        ) : (
          <Empty title={TEXTS.sessions.choose} icon="sessions">
            {TEXTS.sessions.chooseHelp}
          </Empty>
        )}
      </div>
    </div>
  );
}

function List({ openId }: { readonly openId: string | undefined }) {
  const [query, setQuery] = useState('');
  const [shown, setShown] = useState<Shown>('active');
  const [isNew, setNew] = useState(false);
  const { sessions, isLoaded, problem, hasMore } = useSessions(useDeferredValue(query.trim()), shown);
  const nowMs = useNow(15_000);
  const move = (step: number) => {
    const index = sessions.findIndex(({ session_id: id }) => id === openId);
    const next = sessions[Math.min(sessions.length - 1, Math.max(0, index + step))];
    if (next) goTo({ view: 'sessions', sessionId: next.session_id });
  };
  useKeys({ n: () => setNew(true) });
  useKeys({ j: () => move(1), k: () => move(-1) }, openId === undefined);
  return (
    <>
      <ViewHead title={TEXTS.sessions.title}>
        <Button icon="plus" look="primary" onClick={() => setNew(true)}>
          {TEXTS.sessions.new}
        </Button>
      </ViewHead>
      <div className="list-tools">
        <input
          type="search"
          aria-label={TEXTS.sessions.search}
          placeholder={TEXTS.sessions.search}
          value={query}
          onChange={(event) => setQuery(event.target.value)}
        />
        <Choice
          label={TEXTS.sessions.show}
          value={shown}
          options={[
            ['active', TEXTS.sessions.active],
            ['archived', TEXTS.sessions.archived],
            ['all', TEXTS.sessions.all],
          ]}
          onChange={setShown}
        />
      </div>
      <Problem>{isLoaded ? undefined : problem}</Problem>
      {isLoaded && sessions.length === 0 && <NoSessions isFiltered={query !== '' || shown !== 'active'} />}
      <ul className="sessions">
        {sessions.map((session) => (
          <SessionLine key={session.session_id} {...{ session, nowMs }} isOpen={session.session_id === openId} />
        ))}
      </ul>
      {hasMore && <p className="muted list-more">{TEXTS.sessions.more}</p>}
      <NewSession isOpen={isNew} onClose={() => setNew(false)} />
    </>
  );
}

/** Sessions as they are told live, or what the server finds where more is asked for. */
function useSessions(query: string, shown: Shown) {
  const { server, list } = useConsole();
  const live = useWatched(list.state);
  const isSearch = query !== '' || shown !== 'active';
  const archived = { active: 'false', archived: 'true', all: 'all' }[shown];
  const parameters = new URLSearchParams({ limit: '200', archived, ...(query && { q: query }) }).toString();
  const found = useLoaded<Page>(
    async (signal) => (isSearch ? findSessions(server, parameters, signal) : { sessions: [] }),
    [isSearch ? parameters : ''],
  );
  return useMemo(() => {
    if (!isSearch) return { ...live, sessions: inOrder(live.sessions.filter(({ archived }) => archived !== true)) };
    const known = new Map(live.sessions.map((session) => [session.session_id, session]));
    const sessions = (found.value?.sessions ?? []).map((session) => known.get(session.session_id) ?? session);
    const hasMore = found.value?.next_cursor !== undefined;
    return { sessions, hasMore, isLoaded: !found.isLoading, problem: found.problem };
  }, [isSearch, live, found.value, found.isLoading, found.problem]);
}

interface Page {
  readonly sessions: readonly SessionRecord[];
  readonly next_cursor?: string;
}

/** A page that was filtered may be short: read on until there is something to see. */
async function findSessions(server: Server, parameters: string, signal: AbortSignal): Promise<Page> {
  const sessions: SessionRecord[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < MAX_PAGES && sessions.length < ENOUGH; pages++) {
    const query = cursor === undefined ? parameters : `${parameters}&cursor=${encodeURIComponent(cursor)}`;
    const page: Page = await server.request<Page>('GET', `/sessions?${query}`, { signal });
    sessions.push(...page.sessions);
    cursor = page.next_cursor;
    if (cursor === undefined) break;
  }
  return { sessions, ...(cursor !== undefined && { next_cursor: cursor }) };
}

/** Sort sessions: those that wait for a person first, then those that run, then the latest. */
function inOrder(sessions: readonly SessionRecord[]): readonly SessionRecord[] {
  const rank = { waiting: 0, running: 1, idle: 2 };
  return sessions.toSorted((a, b) => rank[a.state] - rank[b.state] || activityOf(b).localeCompare(activityOf(a)));
}

function activityOf(session: SessionRecord): string {
  return session.last_activity_at;
}

function NoSessions({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) return <Empty title={TEXTS.sessions.noMatch} icon="search" />;
  return (
    <Empty title={TEXTS.sessions.empty} icon="sessions">
      {TEXTS.sessions.emptyHelp}
    </Empty>
  );
}

interface LineProps {
  readonly session: SessionRecord;
  readonly isOpen: boolean;
  readonly nowMs: number;
}

const SessionLine = memo(function SessionLine({ session, isOpen, nowMs }: LineProps) {
  const { session_id: sessionId, title, cwd, state, mode, parent } = session;
  return (
    <li>
      <a className="session" href={hrefOf({ view: 'sessions', sessionId })} aria-current={isOpen ? 'page' : undefined}>
        <span className={`dot ${state}`} aria-hidden="true" />
        <span className="session-title">
          <Line text={title ?? shortPath(cwd)} />
        </span>
        <time dateTime={activityOf(session)}>{age(Date.parse(activityOf(session)), nowMs)}</time>
        <span className="session-facts">
          <span className={`state ${state}`}>{TEXTS.sessions.states[state]}</span>
          {parent && (
            <span className="session-child">
              <Icon name="agent" size={13} /> {TEXTS.sessions.child}
            </span>
          )}
          <Line text={title ? shortPath(cwd) : mode} />
        </span>
      </a>
    </li>
  );
});
