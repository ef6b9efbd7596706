/**
 * Explains how a call would be decided: its parts, its effects, the rule, and what would change it.
 */
import { useEffect, useState } from 'react';
import type { Place } from '../model/deep-link.ts';
import type { Explanation, PermissionUpdate } from '../model/wire.ts';
import { useConsole } from '../parts/console.tsx';
import { Button, Empty, Field, Problem, ViewHead } from '../parts/controls.tsx';
import { goTo, useAction } from '../parts/hooks.ts';
import { Line } from '../parts/plain-text.tsx';
import { Reason } from '../parts/reason.tsx';
import { SessionPicker, useSessionChoice } from '../parts/session-picker.tsx';
import { TEXTS } from '../texts.ts';

/** Explain. */
export function ExplainView({ place }: { readonly place: Place }) {
  const { server } = useConsole();
  const sessionId = useSessionChoice(place.sessionId);
  const [text, setText] = useState(place.query ?? '');
  const [found, setFound] = useState<Explanation>();
  const explain = useAction(async () => {
    if (sessionId === undefined) return;
    const path = `/sessions/${encodeURIComponent(sessionId)}/permissions/explain`;
    setFound(await server.request<Explanation>('POST', path, { body: callOf(text) }));
  });
  useEffect(() => {
    if (place.query !== undefined && sessionId !== undefined) explain.run();
    // Once for each address that was opened.
  }, [place.query, sessionId]);
  return (
    <div className="page">
      <ViewHead title={TEXTS.explain.title} />
      <p className="muted">{TEXTS.explain.help}</p>
      <form
        className="explain-form"
        onSubmit={(event) => {
          event.preventDefault();
          explain.run();
        }}
      >
        <SessionPicker sessionId={sessionId} onChange={(id) => goTo({ ...place, sessionId: id })} />
        <Field label={TEXTS.explain.command}>
          {(ids) => (
            <textarea
              {...ids}
              className="mono"
              rows={Math.min(12, Math.max(3, text.split('\n').length))}
              spellCheck={false}
              placeholder={TEXTS.explain.placeholder}
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          )}
        </Field>
        <Button type="submit" look="primary" disabled={explain.isBusy || text.trim() === '' || sessionId === undefined}>
          {TEXTS.explain.button}
        </Button>
      </form>
      <Problem>{explain.problem}</Problem>
      {sessionId === undefined && <Empty title={TEXTS.try.needSession} icon="sessions" />}
      {found && <Found explanation={found} />}
    </div>
  );
}

/** A call as JSON, in the shape of any provider; other text is a command line. */
function callOf(text: string): { readonly name: string; readonly input: unknown } {
  try {
    const {
      name,
      input,
      arguments: given,
      args,
      function: called,
    } = JSON.parse(text) as Record<string, unknown> & {
      function?: { name?: unknown; arguments?: unknown };
    };
    const wanted = name ?? called?.name;
    const values = input ?? given ?? args ?? called?.arguments ?? {};
    if (typeof wanted === 'string')
      return { name: wanted, input: typeof values === 'string' ? JSON.parse(values) : values };
  } catch {
    // Not JSON: a command line.
  }
  return { name: 'Bash', input: { command: text } };
}

function Found({ explanation }: { readonly explanation: Explanation }) {
  const { behavior, reason, message, warnings, parts = [] } = explanation;
  return (
    <article className={`explanation ${behavior}`} aria-live="polite">
      <h2>
        <span className={`state ${behavior}`}>{TEXTS.explain.behaviors[behavior]}</span> <Reason reason={reason} />
      </h2>
      <p>
        <Line text={message} />
      </p>
      <ul className="effects" aria-label={TEXTS.explain.effects}>
        {effectsOf(explanation).map((effect) => (
          <li key={effect}>{effect}</li>
        ))}
      </ul>
      {warnings.length > 0 && (
        <ul className="warnings" aria-label={TEXTS.questions.warnings}>
          {warnings.map((warning) => (
            <li key={warning}>
              <Line text={warning} />
            </li>
          ))}
        </ul>
      )}
      {parts.length > 0 && <Parts parts={parts} />}
      <h3>{TEXTS.explain.changes}</h3>
      <WhatChanges explanation={explanation} />
    </article>
  );
}

function effectsOf({ read_only, destructive, concurrency_safe, containment }: Explanation): string[] {
  const { effect } = TEXTS.explain;
  return [
    read_only ? effect.reads : effect.writes,
    ...(destructive ? [effect.destructive] : []),
    concurrency_safe ? effect.parallel : effect.alone,
    ...(containment ? [TEXTS.explain.containment[containment]] : []),
  ];
}

function Parts({ parts }: { readonly parts: NonNullable<Explanation['parts']> }) {
  return (
    <table>
      <caption className="hidden">{TEXTS.explain.parts}</caption>
      <thead>
        <tr>
          <th scope="col">{TEXTS.explain.part}</th>
          <th scope="col">{TEXTS.explain.decision}</th>
          <th scope="col">{TEXTS.explain.reason}</th>
        </tr>
      </thead>
      <tbody>
        {parts.map(({ text, behavior, reason }, index) => (
          <tr key={index}>
            <td>
              <code>
                <Line text={text} />
              </code>
            </td>
            <td>
              <span className={`state ${behavior}`}>{TEXTS.explain.behaviors[behavior]}</span>
            </td>
            <td>{reason && <Reason reason={reason} isBare />}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function WhatChanges({
  explanation: { allowed_by: allowedBy = [], suggestions },
}: {
  readonly explanation: Explanation;
}) {
  if (allowedBy.length + suggestions.length === 0) return <p className="muted">{TEXTS.explain.nothing}</p>;
  return (
    <>
      {allowedBy.length > 0 && <RuleList title={TEXTS.explain.allowedBy} rules={allowedBy} />}
      {suggestions.length > 0 && <RuleList title={TEXTS.explain.suggestions} rules={suggestions.flatMap(rulesOf)} />}
    </>
  );
}

function RuleList({ title, rules }: { readonly title: string; readonly rules: readonly string[] }) {
  return (
    <>
      <p className="muted">{title}</p>
      <ul className="rules">
        {rules.map((rule) => (
          <li key={rule}>
            <code>
              <Line text={rule} />
            </code>
          </li>
        ))}
      </ul>
    </>
  );
}

function rulesOf(update: PermissionUpdate): string[] {
  if (update.type === 'setMode') return [`${TEXTS.rules.mode}: ${update.mode}`];
  return 'rules' in update ? [...update.rules] : [...update.directories];
}
