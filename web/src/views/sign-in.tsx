/**
 * The page in front of the console: a field for the token, and advice where a sign-in failed.
 */
import { useState } from 'react';
import { GauntletError } from '../../../client/src/errors.ts';
import { signIn, type SignedIn } from '../api/server.ts';
import { Button, Field, Problem, Words } from '../parts/controls.tsx';
import { useAction } from '../parts/hooks.ts';
import { TEXTS } from '../texts.ts';

/** Reasons for which a person is not signed in. */
export type SignInProblem = 'badTicket' | 'badToken' | 'ended' | 'otherVersion' | 'unreachable' | 'tooMany';

interface Props {
  readonly problem: SignInProblem | undefined;
  onSignedIn(signedIn: SignedIn): void;
  onProblem(problem: SignInProblem): void;
}

/** The sign-in. */
export function SignIn({ problem, onSignedIn, onProblem }: Props) {
  const [token, setToken] = useState('');
  const enter = useAction(async () => {
    try {
      onSignedIn(await signIn({ token: token.trim() }));
    } catch (error) {
      onProblem(problemOf(error, 'badToken'));
    }
  });
  const told = problem === undefined ? undefined : TEXTS.signIn[problem];
  return (
    <main className="sign-in" id="content">
      <form
        className="sign-in-card"
        onSubmit={(event) => {
          event.preventDefault();
          enter.run();
        }}
      >
        <span className="logo" aria-hidden="true" />
        <h1>{TEXTS.signIn.title}</h1>
        {told && (
          <div className="note danger" role="alert">
            <div>
              <strong>{told.title}</strong>
              <p>
                <Words>{told.words}</Words>
              </p>
            </div>
          </div>
        )}
        <p>
          <Words>{TEXTS.signIn.where}</Words>
        </p>
        <Field label={TEXTS.signIn.token} help={TEXTS.signIn.orToken}>
          {(ids) => (
            <input
              {...ids}
              type="password"
              autoComplete="off"
              required
              autoFocus
              value={token}
              onChange={(event) => setToken(event.target.value)}
            />
          )}
        </Field>
        <Problem>{enter.problem}</Problem>
        <Button type="submit" look="primary" disabled={enter.isBusy || token.trim() === ''}>
          {enter.isBusy ? TEXTS.signIn.checking : TEXTS.signIn.button}
        </Button>
        <p className="help">{TEXTS.signIn.nothingStored}</p>
      </form>
    </main>
  );
}

/** The reason of a failed sign-in, as far as a person can do something about it. */
export function problemOf(error: unknown, unauthenticated: 'badTicket' | 'badToken'): SignInProblem {
  if (!(error instanceof GauntletError) || error.status === 0) return 'unreachable';
  if (error.status === 429) return 'tooMany';
  if (error.status === 401 || error.status === 403) return unauthenticated;
  // The routes of the sign-in are missing, or answer in another shape.
  return error.status >= 500 ? 'unreachable' : 'otherVersion';
}
