/**
 * The server: live figures, tools, MCP servers, and who is signed in.
 */
import { useEffect, useRef, useState } from 'react';
import { duration, quantity } from '../model/quantities.ts';
import { type Metrics, parseMetrics } from '../model/metrics.ts';
import type { McpServer, Tool } from '../model/wire.ts';
import { useConsole } from '../parts/console.tsx';
import { Button, Problem, ViewHead } from '../parts/controls.tsx';
import { useAction, useLoaded, useNow } from '../parts/hooks.ts';
import { Line } from '../parts/plain-text.tsx';
import { TEXTS } from '../texts.ts';

const FIGURES_MS = 2_000;
const MCP_MS = 5_000;
const PRINCIPALS_MS = 5_000;

/** The principal whose token is the server's own. */
const OWNER = 'owner';

/** States in which connecting again may help. */
const CAN_RECONNECT: ReadonlySet<McpServer['state']> = new Set(['connecting', 'connected', 'failed']);

/** Server. */
export function ServerView() {
  return (
    <div className="page">
      <ViewHead title={TEXTS.server.title} />
      <Figures />
      <You />
      <Principals />
      <McpServers />
      <Tools />
    </div>
  );
}

function Figures() {
  const { server } = useConsole();
  const nowMs = useNow(FIGURES_MS);
  const { value, problem } = useLoaded(async (signal) => parseMetrics(await server.text('/metrics', signal)), [nowMs]);
  const calls = value?.sum('gauntlet_calls_total');
  const rate = useRate(calls, nowMs);
  if (!value) return <Problem>{problem}</Problem>;
  const ok = value.sum('gauntlet_calls_total', { status: 'ok' }) ?? 0;
  const figures: readonly (readonly [string, string])[] = [
    [
      TEXTS.server.callsTotal,
      `${quantity(calls ?? 0)}${rate > 0 ? ` · ${rate.toFixed(1)} ${TEXTS.server.perSecond}` : ''}`,
    ],
    [TEXTS.server.failed, quantity((calls ?? 0) - ok)],
    [TEXTS.server.open, quantity(value.sum('gauntlet_questions_open') ?? 0)],
    [TEXTS.server.tasks, quantity(value.sum('gauntlet_tasks_running') ?? 0)],
    [TEXTS.server.sessionsOpen, quantity(value.sum('gauntlet_sessions_open') ?? 0)],
    [TEXTS.server.appends, quantity(value.sum('gauntlet_log_appends_total') ?? 0)],
    [TEXTS.server.waitP95, waitP95(value)],
    [TEXTS.server.memory, `${quantity(value.sum('process_resident_memory_bytes') ?? 0)}B`],
  ];
  return (
    <section aria-labelledby="figures">
      <h2 id="figures">{TEXTS.server.figures}</h2>
      <dl className="figures">
        {figures.map(([name, figure]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{figure}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** Growth of a count, in counts a second. */
function useRate(count: number | undefined, nowMs: number): number {
  const last = useRef<{ count: number; atMs: number }>(undefined);
  const [rate, setRate] = useState(0);
  useEffect(() => {
    if (count === undefined) return;
    const before = last.current;
    last.current = { count, atMs: nowMs };
    if (before && nowMs > before.atMs) setRate((1_000 * (count - before.count)) / (nowMs - before.atMs));
  }, [count, nowMs]);
  return rate;
}

/** The bound of the histogram that 95 % of the waits stay below. */
function waitP95(metrics: Metrics): string {
  const name = 'gauntlet_call_wait_seconds';
  const all = metrics.sum(`${name}_count`) ?? 0;
  const bounds = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300];
  const bound = bounds.find((each) => (metrics.sum(`${name}_bucket`, { le: String(each) }) ?? 0) >= 0.95 * all);
  if (all === 0) return '–';
  return bound === undefined ? '> 5 min' : `≤ ${duration(bound * 1_000)}`;
}

interface Self {
  readonly principal: string;
  readonly roots?: readonly string[];
  readonly max_mode?: string;
  readonly may_answer: { readonly own: boolean; readonly two_person: boolean };
  /** 0: no bound. */
  readonly limits: Readonly<Record<string, number>>;
  readonly version: string;
}

function You() {
  const { server, signedIn, signOut } = useConsole();
  const { value } = useLoaded((signal) => server.request<Self>('GET', '/principals/self', { signal }), []);
  return (
    <section aria-labelledby="you">
      <h2 id="you">{TEXTS.server.you}</h2>
      <dl className="facts">
        <dt>{TEXTS.server.principal}</dt>
        <dd>
          <Line text={value?.principal ?? signedIn.principal} />
        </dd>
        <dt>{TEXTS.server.until}</dt>
        <dd>{signedIn.expires_at === '' ? '–' : new Date(signedIn.expires_at).toLocaleString()}</dd>
        <dt>{TEXTS.server.version}</dt>
        <dd>{value?.version ?? '–'}</dd>
        {value?.max_mode !== undefined && (
          <>
            <dt>{TEXTS.server.maxMode}</dt>
            <dd>{value.max_mode}</dd>
          </>
        )}
        {value?.roots && (
          <>
            <dt>{TEXTS.server.roots}</dt>
            <dd>
              <Line text={value.roots.join(', ') || TEXTS.server.unset} />
            </dd>
          </>
        )}
        <dt>{TEXTS.server.mayAnswer}</dt>
        <dd>
          {value?.may_answer.own && TEXTS.server.ownQuestions}
          {value?.may_answer.two_person && `, ${TEXTS.server.twoPerson}`}
        </dd>
        <dt>{TEXTS.server.limits}</dt>
        <dd>{limitTexts(value?.limits ?? {})}</dd>
      </dl>
      <Button onClick={signOut}>{TEXTS.server.signOut}</Button>
    </section>
  );
}

/** One entry of the owner's list. */
interface ListedPrincipal extends Pick<Self, 'principal' | 'roots' | 'max_mode' | 'limits'> {
  readonly sessions: { readonly open: number; readonly waiting: number };
  readonly calls: number;
  readonly tasks: number;
}

/** All principals; shown to the owner alone. */
function Principals() {
  const { signedIn } = useConsole();
  return signedIn.principal === OWNER ? <PrincipalTable /> : null;
}

function PrincipalTable() {
  const { server } = useConsole();
  const nowMs = useNow(PRINCIPALS_MS);
  const { value, problem } = useLoaded(
    (signal) => server.request<{ principals: ListedPrincipal[] }>('GET', '/principals', { signal }),
    [nowMs],
  );
  const texts = TEXTS.server;
  const columns = [
    texts.principal,
    texts.sessionsOpen,
    texts.waiting,
    texts.calls,
    texts.tasks,
    texts.maxMode,
    texts.roots,
    texts.limits,
  ];
  return (
    <section aria-labelledby="principals">
      <h2 id="principals">{texts.principals}</h2>
      <Problem>{problem}</Problem>
      <div className="table-box" tabIndex={0} role="region" aria-label={texts.principalList}>
        <table>
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column} scope="col">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {(value?.principals ?? []).map(({ principal, sessions, calls, tasks, max_mode, roots, limits }) => (
              <tr key={principal}>
                <th scope="row">
                  <Line text={principal} />
                </th>
                <td>{sessions.open}</td>
                <td>{sessions.waiting}</td>
                <td>{calls}</td>
                <td>{tasks}</td>
                <td>{max_mode ?? '–'}</td>
                <td>
                  <Line text={roots ? roots.join(', ') || texts.unset : '–'} />
                </td>
                <td>{limitTexts(limits)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** The limits that are set, in words. */
function limitTexts(limits: Self['limits']): string {
  const set = Object.entries(limits).filter(([, limit]) => limit !== 0);
  return set.map(([name, limit]) => `${name.replaceAll('_', ' ')}: ${limit}`).join(', ') || TEXTS.server.unset;
}

function McpServers() {
  const { server } = useConsole();
  const nowMs = useNow(MCP_MS);
  const { value, reload } = useLoaded(
    (signal) => server.request<{ servers: McpServer[] }>('GET', '/mcp-servers', { signal }),
    [nowMs],
  );
  const servers = value?.servers ?? [];
  return (
    <section aria-labelledby="mcp">
      <h2 id="mcp">{TEXTS.server.mcp}</h2>
      {value && servers.length === 0 && (
        <p className="muted">
          {TEXTS.server.none}. {TEXTS.server.noneHelp}
        </p>
      )}
      <ul className="mcp">
        {servers.map((each) => (
          <McpLine key={each.name} found={each} onChange={reload} />
        ))}
      </ul>
    </section>
  );
}

function McpLine({ found, onChange }: { readonly found: McpServer; onChange(): void }) {
  const { server } = useConsole();
  const [address, setAddress] = useState<string>();
  const path = `/mcp-servers/${encodeURIComponent(found.name)}`;
  const login = useAction(async () => {
    const reply = await server.request<{ authorization_url?: string }>('POST', `${path}/login`, { body: {} });
    setAddress(reply.authorization_url);
    onChange();
  });
  const reconnect = useAction(async () => {
    await server.request('POST', `${path}/reconnect`, { body: {} });
    onChange();
  });
  const logout = useAction(async () => {
    await server.request('DELETE', `${path}/login`);
    onChange();
  });
  const isSafe = address !== undefined && /^https?:\/\//.test(address);
  return (
    <li>
      <p className="mcp-head">
        <strong>
          <Line text={found.name} />
        </strong>
        <span className={`state ${found.state}`}>{TEXTS.server.states[found.state]}</span>
        <span className="muted">
          {[
            TEXTS.server.since(new Date(found.since).toLocaleString()),
            TEXTS.server.toolCount(found.tool_count),
            ...(found.latency_ms === undefined ? [] : [TEXTS.server.latency(duration(found.latency_ms))]),
          ].join(' · ')}
        </span>
        {found.remote && found.state === 'needs_auth' && (
          <Button disabled={login.isBusy} onClick={() => login.run()}>
            {TEXTS.server.login}
          </Button>
        )}
        {CAN_RECONNECT.has(found.state) && (
          <Button disabled={reconnect.isBusy} onClick={() => reconnect.run()}>
            {TEXTS.server.reconnect}
          </Button>
        )}
        {found.login?.state === 'held' && (
          <Button look="quiet" disabled={logout.isBusy} onClick={() => logout.run()}>
            {TEXTS.server.logout}
          </Button>
        )}
      </p>
      {found.reason && <Line text={found.reason} className="problem" />}
      {found.login?.failure && <Line text={found.login.failure} className="problem" />}
      {isSafe && (
        <a href={address} target="_blank" rel="noreferrer noopener">
          {TEXTS.server.openLogin}
        </a>
      )}
      <Problem>{login.problem ?? reconnect.problem ?? logout.problem}</Problem>
    </li>
  );
}

function Tools() {
  const { server } = useConsole();
  const [filter, setFilter] = useState('');
  const { value, problem } = useLoaded(
    (signal) => server.request<{ tools: Tool[] }>('GET', '/tools?format=full', { signal }),
    [],
  );
  const wanted = filter.toLowerCase();
  const tools = (value?.tools ?? []).filter(({ name }) => name.toLowerCase().includes(wanted));
  return (
    <section aria-labelledby="tools">
      <h2 id="tools">{TEXTS.server.tools}</h2>
      <input
        type="search"
        aria-label={TEXTS.try.filter}
        placeholder={TEXTS.try.filter}
        value={filter}
        onChange={(event) => setFilter(event.target.value)}
      />
      <Problem>{problem}</Problem>
      <div className="table-box" tabIndex={0} role="region" aria-label={TEXTS.server.toolList}>
        <table>
          <thead>
            <tr>
              <th scope="col">{TEXTS.server.name}</th>
              <th scope="col">{TEXTS.server.from}</th>
              <th scope="col">{TEXTS.server.state}</th>
            </tr>
          </thead>
          <tbody>
            {tools.map(({ name, source, server: from, state }) => (
              <tr key={name}>
                <th scope="row">
                  <Line text={name} />
                </th>
                <td>
                  <Line text={from ?? TEXTS.server.source[source]} />
                </td>
                <td className={state === 'enabled' ? '' : 'muted'}>
                  <Line text={state === 'enabled' ? TEXTS.server.enabled : state} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
