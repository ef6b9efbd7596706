/**
 * Chooses the session that a call runs in, or is explained for.
 */
import { shortPath } from '../model/quantities.ts';
import { TEXTS } from '../texts.ts';
import { useConsole } from './console.tsx';
import { Field } from './controls.tsx';
import { useWatched } from './hooks.ts';

interface Props {
  readonly sessionId: string | undefined;
  onChange(sessionId: string): void;
}

/** The latest session that is no agent's is chosen, until a person chooses. */
export function useSessionChoice(wanted: string | undefined): string | undefined {
  const { list } = useConsole();
  const { sessions } = useWatched(list.state);
  return wanted ?? sessions.find(({ parent, archived }) => !parent && archived !== true)?.session_id;
}

/** A list of sessions. */
export function SessionPicker({ sessionId, onChange }: Props) {
  const { list } = useConsole();
  const { sessions } = useWatched(list.state);
  return (
    <Field label={TEXTS.try.session}>
      {(ids) => (
        <select {...ids} value={sessionId ?? ''} onChange={(event) => onChange(event.target.value)}>
          {sessionId === undefined && <option value="">{TEXTS.try.needSession}</option>}
          {sessions.map(({ session_id: id, title, cwd, mode }) => (
            <option key={id} value={id}>
              {`${title ?? shortPath(cwd)} · ${mode}`.slice(0, 120)}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
