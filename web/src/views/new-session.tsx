/**
 * The form that begins a session: folder, mode, rules.
 */
import { useState } from 'react';
import { MODES, type Mode, type SessionDescription } from '../model/wire.ts';
import { useConsole } from '../parts/console.tsx';
import { Button, Dialog, Field, Problem } from '../parts/controls.tsx';
import { goTo, useAction } from '../parts/hooks.ts';
import { TEXTS } from '../texts.ts';

const BEHAVIORS = ['allow', 'ask', 'deny'] as const;

/** Dialog for a new session. */
export function NewSession({ isOpen, onClose }: { readonly isOpen: boolean; onClose(): void }) {
  return (
    <Dialog title={TEXTS.newSession.title} isOpen={isOpen} onClose={onClose}>
      <NewSessionForm onClose={onClose} />
    </Dialog>
  );
}

function NewSessionForm({ onClose }: { onClose(): void }) {
  const { server, list } = useConsole();
  const [fields, setFields] = useState({ title: '', cwd: '', allow: '', ask: '', deny: '' });
  const [mode, setMode] = useState<Mode>('default');
  const begin = useAction(async () => {
    const { title, cwd, ...rules } = fields;
    const lists = Object.fromEntries(
      BEHAVIORS.flatMap((name) => (rules[name].trim() === '' ? [] : [[name, linesOf(rules[name])]])),
    );
    // Somebody looks at this session, so that its questions wait for an answer.
    const body = { on_ask: 'wait', mode, ...(title && { title }), ...(cwd && { cwd }), rules: lists };
    const session = await server.request<SessionDescription>('POST', '/sessions', { body });
    await list.refresh();
    onClose();
    goTo({ view: 'sessions', sessionId: session.session_id });
  });
  const change = (name: keyof typeof fields) => (event: { target: { value: string } }) =>
    setFields((old) => ({ ...old, [name]: event.target.value }));
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        begin.run();
      }}
    >
      <Field label={TEXTS.newSession.name}>
        {(ids) => (
          <input {...ids} type="text" maxLength={500} autoFocus value={fields.title} onChange={change('title')} />
        )}
      </Field>
      <Field label={TEXTS.newSession.folder} help={TEXTS.newSession.folderHelp}>
        {(ids) => (
          <input {...ids} type="text" className="mono" spellCheck={false} value={fields.cwd} onChange={change('cwd')} />
        )}
      </Field>
      <Field label={TEXTS.newSession.mode}>
        {(ids) => (
          <select {...ids} value={mode} onChange={(event) => setMode(event.target.value as Mode)}>
            {MODES.map((each) => (
              <option key={each} value={each}>
                {TEXTS.modes[each]}
              </option>
            ))}
          </select>
        )}
      </Field>
      <RuleFields fields={fields} change={change} />
      <Problem>{begin.problem}</Problem>
      <Button type="submit" look="primary" disabled={begin.isBusy}>
        {TEXTS.newSession.create}
      </Button>
    </form>
  );
}

interface RuleProps {
  readonly fields: Readonly<Record<(typeof BEHAVIORS)[number], string>>;
  change(name: (typeof BEHAVIORS)[number]): (event: { target: { value: string } }) => void;
}

function RuleFields({ fields, change }: RuleProps) {
  return (
    <details>
      <summary>{TEXTS.newSession.rules}</summary>
      <p className="help">{TEXTS.newSession.rulesHelp}</p>
      {BEHAVIORS.map((name) => (
        <Field key={name} label={TEXTS.newSession[name]}>
          {(ids) => (
            <textarea
              {...ids}
              className="mono"
              rows={2}
              spellCheck={false}
              value={fields[name]}
              onChange={change(name)}
            />
          )}
        </Field>
      ))}
    </details>
  );
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
}
