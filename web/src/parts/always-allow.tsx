/**
 * "Always allow": the rules that the session would get, to be edited, and what else they would cover.
 */
import { useState } from 'react';
import type { Answer, InboxQuestion, PermissionUpdate, TestedPermissions, Updates } from '../model/wire.ts';
import { TEXTS } from '../texts.ts';
import { useConsole } from './console.tsx';
import { Button, Field } from './controls.tsx';
import { type Action, useLoaded } from './hooks.ts';
import { Line } from './plain-text.tsx';

/** Calls that are shown as covered. */
const SHOWN_CALLS = 8;

/** Panel of a question. */
export function AlwaysAllow({
  question,
  answer,
}: {
  readonly question: InboxQuestion;
  readonly answer: Action<[Answer]>;
}) {
  const [text, setText] = useState(() => rulesOf(question.suggestions).join('\n'));
  const rules = text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  const others = question.suggestions.filter((update) => !isAllowRule(update));
  const submit = () => {
    const added: Updates = rules.length === 0 ? [] : [{ type: 'addRules', behavior: 'allow', rules }];
    answer.run({ behavior: 'allow', updated_permissions: [...added, ...others] });
  };
  return (
    <div className="panel">
      <p className="help">{TEXTS.questions.alwaysHelp}</p>
      <Field label={TEXTS.rules.title}>
        {(ids) => (
          <textarea
            {...ids}
            className="mono"
            rows={Math.max(2, rules.length)}
            value={text}
            onChange={(e) => setText(e.target.value)}
          />
        )}
      </Field>
      {others.length > 0 && (
        <ul className="items">
          {others.map((update, index) => (
            <li key={index}>
              <Line text={wordsOfUpdate(update)} />
            </li>
          ))}
        </ul>
      )}
      <Covered sessionId={question.session_id} rules={rules} />
      <div className="answers">
        <Button look="primary" disabled={answer.isBusy || rules.length + others.length === 0} onClick={submit}>
          {TEXTS.questions.alwaysButton}
        </Button>
      </div>
    </div>
  );
}

/** Calls of the past that rules would have let pass. */
function Covered({ sessionId, rules }: { readonly sessionId: string; readonly rules: readonly string[] }) {
  const { server } = useConsole();
  const path = `/sessions/${encodeURIComponent(sessionId)}/permissions/test`;
  const { value, problem } = useLoaded(
    (signal) => server.request<TestedPermissions>('POST', path, { signal, body: { rules: { allow: rules } } }),
    [path, rules.join('\n')],
  );
  if (problem !== undefined) return <p className="help">{problem}</p>;
  if (value === undefined) return <p className="help">{TEXTS.questions.checkingRules}</p>;
  const changed = value.calls.filter((call) => call.changed && call.after.behavior === 'allow');
  if (changed.length === 0) return <p className="help">{TEXTS.questions.coversNothing}</p>;
  return (
    <>
      <p className="help">{TEXTS.questions.covers(changed.length)}</p>
      <ul className="items">
        {changed.slice(0, SHOWN_CALLS).map(({ tool_use_id: id, text: words }) => (
          <li key={id}>
            <Line text={words} />
          </li>
        ))}
      </ul>
    </>
  );
}

function isAllowRule(update: PermissionUpdate): boolean {
  return update.type === 'addRules' && update.behavior === 'allow';
}

function rulesOf(updates: Updates): string[] {
  return updates.flatMap((update) =>
    update.type === 'addRules' && update.behavior === 'allow' ? [...update.rules] : [],
  );
}

function wordsOfUpdate(update: PermissionUpdate): string {
  if (update.type === 'setMode') return `${TEXTS.rules.mode}: ${TEXTS.modes[update.mode]}`;
  if ('rules' in update) return `${update.type} ${update.behavior}: ${update.rules.join(', ')}`;
  return `${update.type}: ${update.directories.join(', ')}`;
}
