/**
 * Begins the console: signs in by the ticket of the address, or with what this tab keeps.
 */
import { Component, type ReactNode, StrictMode, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { signIn, type SignedIn } from './api/server.ts';
import { App } from './app.tsx';
import { ticketOf } from './model/deep-link.ts';
import { Button } from './parts/controls.tsx';
import { applyTheme } from './parts/theme.tsx';
import './style.css';
import { TEXTS } from './texts.ts';
import { problemOf, SignIn, type SignInProblem } from './views/sign-in.tsx';

const KEY = 'gauntlet.credential';

applyTheme();
const ticket = ticketOf(location.hash);
// The ticket leaves the address at once: history and screenshots keep no secret, though it counts only once.
if (ticket !== undefined) history.replaceState(null, '', `${location.pathname}#/`);

function Root() {
  const [signedIn, setSignedIn] = useState<SignedIn | undefined>(() => (ticket === undefined ? stored() : undefined));
  const [problem, setProblem] = useState<SignInProblem>();
  const [isChecking, setChecking] = useState(ticket !== undefined);
  const enter = (next: SignedIn | undefined) => {
    if (next) sessionStorage.setItem(KEY, JSON.stringify(next));
    else sessionStorage.removeItem(KEY);
    setSignedIn(next);
  };
  useEffect(() => {
    if (ticket === undefined) return;
    exchanged(ticket)
      .then(enter, (error: unknown) => {
        const kept = stored();
        if (kept) setSignedIn(kept);
        else setProblem(problemOf(error, 'badTicket'));
      })
      .finally(() => setChecking(false));
  }, []);
  if (isChecking) return <p className="loading">{TEXTS.signIn.checking}</p>;
  if (signedIn) {
    const onSignedOut = (isWanted: boolean) => {
      enter(undefined);
      setProblem(isWanted ? undefined : 'ended');
    };
    return <App signedIn={signedIn} onSignedOut={onSignedOut} />;
  }
  return <SignIn problem={problem} onSignedIn={enter} onProblem={setProblem} />;
}

let exchanging: Promise<SignedIn> | undefined;

/** A ticket counts once, however often React runs an effect. */
function exchanged(given: string): Promise<SignedIn> {
  exchanging ??= signIn({ ticket: given });
  return exchanging;
}

function stored(): SignedIn | undefined {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? 'null') as SignedIn | null;
    return kept && Date.parse(kept.expires_at) > Date.now() ? kept : undefined;
  } catch {
    return undefined;
  }
}

/** A page that cannot go on says so. */
class Guard extends Component<{ readonly children: ReactNode }, { readonly isBroken: boolean }> {
  override state = { isBroken: false };

  static getDerivedStateFromError(): { isBroken: boolean } {
    return { isBroken: true };
  }

  override render(): ReactNode {
    if (!this.state.isBroken) return this.props.children;
    return (
      <main className="sign-in">
        <div className="sign-in-card">
          <h1>{TEXTS.common.broken.title}</h1>
          <p>{TEXTS.common.broken.words}</p>
          <Button look="primary" onClick={() => location.reload()}>
            {TEXTS.common.broken.reload}
          </Button>
        </div>
      </main>
    );
  }
}

const root = document.getElementById('root');
if (root) {
  createRoot(root).render(
    <StrictMode>
      <Guard>
        <Root />
      </Guard>
    </StrictMode>,
  );
}
