/**
 * The console: its navigation, its views, and what is told wherever one is.
 */
import { useEffect, useMemo, useRef, useState } from 'react';
import { Server, type SignedIn } from './api/server.ts';
import { hrefOf, VIEWS, type ViewName } from './model/deep-link.ts';
import { type Console, ConsoleProvider, startConsole, useConsole } from './parts/console.tsx';
import { Button, Dialog, IconButton } from './parts/controls.tsx';
import { goTo, useKeys, useLoaded, usePlace, useWatched } from './parts/hooks.ts';
import { Icon, VIEW_ICONS } from './parts/icons.tsx';
import { useNotifications } from './parts/notifications.ts';
import { ThemeSwitch } from './parts/theme.tsx';
import { TEXTS } from './texts.ts';
import { ExplainView } from './views/explain.tsx';
import { QuestionsView } from './views/questions.tsx';
import { SearchView } from './views/search.tsx';
import { ServerView } from './views/server.tsx';
import { SessionsView } from './views/sessions.tsx';
import { TryView } from './views/try.tsx';

interface Props {
  readonly signedIn: SignedIn;
  onSignedOut(isWanted: boolean): void;
}

/** The console of somebody who is signed in. */
export function App({ signedIn, onSignedOut }: Props) {
  const [words, setWords] = useState('');
  const console = useStarted(signedIn, onSignedOut, setWords);
  if (console === undefined) return null;
  return (
    <ConsoleProvider value={console}>
      <Frame />
      <p className="hidden" role="status" aria-live="polite">
        {words}
      </p>
    </ConsoleProvider>
  );
}

/** Start the live parts, and end them with the sign-in. */
function useStarted(
  signedIn: SignedIn,
  onSignedOut: Props['onSignedOut'],
  announce: (words: string) => void,
): Console | undefined {
  const [started, setStarted] = useState<ReturnType<typeof startConsole>>();
  const end = useRef(onSignedOut);
  end.current = onSignedOut;
  const server = useMemo(() => new Server(signedIn.credential, () => end.current(false)), [signedIn]);
  useEffect(() => {
    const parts = startConsole(server);
    setStarted(parts);
    return () => parts.close();
  }, [server]);
  return useMemo(() => {
    if (!started) return undefined;
    const signOut = () => {
      // Where the server is away, the credential ends by itself; this tab forgets it in any case.
      server.request('DELETE', '/console/credentials').catch(() => undefined);
      end.current(true);
    };
    return { server, signedIn, signOut, announce, list: started.list, inbox: started.inbox };
  }, [started, server, signedIn, announce]);
}

function Frame() {
  const place = usePlace();
  const [isHelpOpen, setHelpOpen] = useState(false);
  useNotifications();
  useKeys({
    'g s': () => goTo({ view: 'sessions' }),
    'g q': () => goTo({ view: 'questions' }),
    'g t': () => goTo({ view: 'try' }),
    'g e': () => goTo({ view: 'explain' }),
    'g f': () => goTo({ view: 'search' }),
    'g v': () => goTo({ view: 'server' }),
    '/': () => goTo({ view: 'search' }),
    '?': () => setHelpOpen(true),
  });
  return (
    <div className="frame">
      <a className="skip" href="#content" onClick={skipTo}>
        {TEXTS.nav.skip}
      </a>
      <Nav view={place.view} onHelp={() => setHelpOpen(true)} />
      <main id="content" className="main" tabIndex={-1}>
        <Away />
        <OtherVersion />
        {place.view === 'sessions' && <SessionsView place={place} />}
        {place.view === 'questions' && <QuestionsView />}
        {place.view === 'try' && <TryView key={place.sessionId} place={place} />}
        {place.view === 'explain' && <ExplainView key={place.query} place={place} />}
        {place.view === 'search' && <SearchView place={place} />}
        {place.view === 'server' && <ServerView />}
      </main>
      <Dialog title={TEXTS.shortcuts.title} isOpen={isHelpOpen} onClose={() => setHelpOpen(false)}>
        <dl className="shortcuts">
          {TEXTS.shortcuts.list.map(([keys, what]) => (
            <div key={keys}>
              <dt>
                <kbd>{keys}</kbd>
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
      </Dialog>
    </div>
  );
}

function Nav({ view, onHelp }: { readonly view: ViewName; onHelp(): void }) {
  return (
    <nav className="nav" aria-label={TEXTS.nav.label}>
      <p className="brand">
        <span className="logo" aria-hidden="true" /> {TEXTS.product}
      </p>
      <ul>
        {VIEWS.map((each) => (
          <li key={each}>
            <a href={hrefOf({ view: each })} aria-current={each === view ? 'page' : undefined}>
              <Icon name={VIEW_ICONS[each]} />
              <span>{TEXTS.nav[each]}</span>
              {each === 'questions' && <OpenCount />}
            </a>
          </li>
        ))}
      </ul>
      <div className="nav-foot">
        <ThemeSwitch />
        <IconButton icon="keyboard" label={TEXTS.nav.help} onClick={onHelp} />
      </div>
    </nav>
  );
}

function OpenCount() {
  const { inbox } = useConsole();
  const count = useWatched(inbox.state).questions.length;
  if (count === 0) return null;
  return (
    <span className="count urgent">
      <span aria-hidden="true">{count}</span>
      <span className="hidden"> {TEXTS.questions.open(count)}</span>
    </span>
  );
}

/** Told where the server cannot be reached: what is shown may be old. */
function Away() {
  const { list } = useConsole();
  const { problem, isLive } = useWatched(list.state);
  if (!problem || isLive) return null;
  return (
    <p className="away" role="status">
      <Icon name="warning" /> {TEXTS.connection.server}
    </p>
  );
}

/** Told where the server was replaced by one of another version while this page was open. */
function OtherVersion() {
  const { server, list } = useConsole();
  const { isLive } = useWatched(list.state);
  const { value } = useLoaded((signal) => server.request<{ version: string }>('GET', '/healthz', { signal }), [isLive]);
  const own: unknown = import.meta.env['VITE_SERVER_VERSION'];
  if (value === undefined || own === undefined || value.version === own) return null;
  return (
    <p className="away" role="alert">
      <Icon name="warning" /> <strong>{TEXTS.signIn.otherVersion.title}.</strong> {TEXTS.signIn.otherVersion.words}{' '}
      <Button onClick={() => location.reload()}>{TEXTS.common.broken.reload}</Button>
    </p>
  );
}

/** Follow the link to the content without a change of the place in the address. */
function skipTo(event: { preventDefault(): void }): void {
  event.preventDefault();
  document.getElementById('content')?.focus();
}
