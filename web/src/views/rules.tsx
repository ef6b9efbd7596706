/**
 * Permissions of a session: its mode, its rules by source, and a test of a rule against what was called before.
 */
import { useState } from 'react';
import type { SessionFeed } from '../api/session-feed.ts';
import { hrefOf } from '../model/deep-link.ts';
import {
  MODES,
  type Mode,
  type PermissionContext,
  type RuleBehavior,
  type TestedPermissions,
  type Updates,
} from '../model/wire.ts';
import { useConsole } from '../parts/console.tsx';
import { Button, Field, IconButton, Problem } from '../parts/controls.tsx';
import { useAction, useLoaded } from '../parts/hooks.ts';
import { Line } from '../parts/plain-text.tsx';
import { TEXTS } from '../texts.ts';

const BEHAVIORS = ['allow', 'ask', 'deny'] as const;
const SOURCES = Object.keys(TEXTS.sources) as (keyof typeof TEXTS.sources)[];
/** Rules of one list that are drawn. */
const MAX_SHOWN = 500;

type Change = (updates: Updates) => void;

/** Rules of a session. */
export function Rules({ feed: { sessionId, model } }: { readonly feed: SessionFeed }) {
  const { server } = useConsole();
  const [warnings, setWarnings] = useState<readonly string[]>([]);
  const path = `/sessions/${encodeURIComponent(sessionId)}/permissions`;
  const version = model.context?.version;
  const { value, problem, reload } = useLoaded(
    (signal) => server.request<PermissionContext>('GET', path, { signal }),
    [path, version],
  );
  const change = useAction(async (updates: Updates) => {
    const reply = await server.request<{ warnings?: string[] }>('POST', path, { body: { updates } });
    setWarnings(reply.warnings ?? []);
    reload();
  });
  if (!value) return problem ? <Problem>{problem}</Problem> : <p className="loading">{TEXTS.common.loading}</p>;
  return (
    <div className="scroll form-page" tabIndex={0} role="region" aria-label={TEXTS.rules.title}>
      <ModeField context={value} onChange={change.run} isBusy={change.isBusy} />
      <Problem>{change.problem}</Problem>
      {warnings.map((warning) => (
        <p key={warning} className="note warning">
          {TEXTS.rules.dead}: <Line text={warning} />
        </p>
      ))}
      <NewRule path={path} sessionId={sessionId} onChange={change.run} isBusy={change.isBusy} />
      <section aria-labelledby="rules-by-source">
        <h2 id="rules-by-source">
          {TEXTS.rules.bySource} <small className="muted">{TEXTS.rules.version(value.version)}</small>
        </h2>
        <BySource context={value} onChange={change.run} />
      </section>
    </div>
  );
}

interface ModeProps {
  readonly context: PermissionContext;
  readonly isBusy: boolean;
  readonly onChange: Change;
}

function ModeField({ context, isBusy, onChange }: ModeProps) {
  const most = context.max_mode;
  const help = most === undefined ? undefined : TEXTS.rules.most(TEXTS.modes[most]);
  const allowed = MODES.slice(0, most === undefined ? undefined : MODES.indexOf(most) + 1).filter(
    (mode) => mode !== 'bypassPermissions' || context.is_bypass_available,
  );
  return (
    <Field label={TEXTS.rules.mode} help={help}>
      {(ids) => (
        <select
          {...ids}
          disabled={isBusy}
          value={context.mode}
          onChange={(event) => onChange([{ type: 'setMode', mode: event.target.value as Mode }])}
        >
          {MODES.map((mode) => (
            <option key={mode} value={mode} disabled={!allowed.includes(mode)}>
              {TEXTS.modes[mode]}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

function BySource({ context, onChange }: { readonly context: PermissionContext; readonly onChange: Change }) {
  const present = SOURCES.filter((source) => context.rules[source] !== undefined);
  return (
    <>
      {present.length === 0 && <p className="muted">{TEXTS.rules.none}</p>}
      {present.map((source) => (
        <section key={source} className="rule-source">
          <h3>
            {TEXTS.sources[source]}
            {source !== 'session' && <small className="muted"> {TEXTS.rules.fixed}</small>}
          </h3>
          <ul className="rules">
            {BEHAVIORS.flatMap((behavior) =>
              (context.rules[source]?.[behavior] ?? []).slice(0, MAX_SHOWN).map((rule) => (
                <li key={`${behavior} ${rule}`}>
                  <span className={`state ${behavior}`}>{TEXTS.rules.behaviors[behavior]}</span>
                  <code>
                    <Line text={rule} />
                  </code>
                  {(source === 'session' || source === 'command') && (
                    <IconButton
                      icon="close"
                      label={TEXTS.rules.remove(rule)}
                      onClick={() => onChange([{ type: 'removeRules', behavior, rules: [rule] }])}
                    />
                  )}
                </li>
              )),
            )}
          </ul>
        </section>
      ))}
      {context.additional_directories.length > 0 && (
        <section className="rule-source">
          <h3>{TEXTS.rules.directories}</h3>
          <ul className="items">
            {context.additional_directories.map((folder) => (
              <li key={folder}>
                <Line text={folder} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

interface NewRuleProps {
  readonly path: string;
  readonly sessionId: string;
  readonly isBusy: boolean;
  readonly onChange: Change;
}

function NewRule({ path, sessionId, isBusy, onChange }: NewRuleProps) {
  const { server } = useConsole();
  const [behavior, setBehavior] = useState<RuleBehavior>('allow');
  const [rule, setRule] = useState('');
  const [tested, setTested] = useState<TestedPermissions>();
  const test = useAction(async () => {
    const body = { rules: { [behavior]: [rule.trim()] } };
    setTested(await server.request<TestedPermissions>('POST', `${path}/test`, { body }));
  });
  return (
    <form
      className="new-rule"
      onSubmit={(event) => {
        event.preventDefault();
        onChange([{ type: 'addRules', behavior, rules: [rule.trim()] }]);
        setRule('');
        setTested(undefined);
      }}
    >
      <Field label={TEXTS.rules.behavior}>
        {(ids) => (
          <select {...ids} value={behavior} onChange={(event) => setBehavior(event.target.value as RuleBehavior)}>
            {BEHAVIORS.map((each) => (
              <option key={each} value={each}>
                {TEXTS.rules.behaviors[each]}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label={TEXTS.rules.rule}>
        {(ids) => (
          <input
            {...ids}
            type="text"
            className="mono"
            spellCheck={false}
            placeholder="Bash(npm run *)"
            value={rule}
            onChange={(event) => setRule(event.target.value)}
          />
        )}
      </Field>
      <div className="answers">
        <Button disabled={test.isBusy || rule.trim() === ''} onClick={() => test.run()}>
          {TEXTS.rules.test}
        </Button>
        <Button type="submit" look="primary" disabled={isBusy || rule.trim() === ''}>
          {TEXTS.rules.add}
        </Button>
      </div>
      <Problem>{test.problem}</Problem>
      {tested && <Tested tested={tested} sessionId={sessionId} />}
    </form>
  );
}

function Tested({ tested, sessionId }: { readonly tested: TestedPermissions; readonly sessionId: string }) {
  const { calls } = tested;
  const changed = calls.filter((call) => call.changed);
  if (changed.length === 0) return <p className="help">{TEXTS.rules.testedNone(calls.length)}</p>;
  return (
    <div className="tested">
      <p>{TEXTS.rules.tested(changed.length, calls.length)}</p>
      <table>
        <thead>
          <tr>
            <th scope="col">{TEXTS.rules.call}</th>
            <th scope="col">{TEXTS.rules.before}</th>
            <th scope="col">{TEXTS.rules.after}</th>
          </tr>
        </thead>
        <tbody>
          {changed.slice(0, MAX_SHOWN).map(({ tool_use_id: callId, text, before, after }) => (
            <tr key={callId}>
              <td>
                <a href={hrefOf({ view: 'sessions', sessionId, callId })}>
                  <Line text={text} />
                </a>
              </td>
              <td>{TEXTS.explain.behaviors[before.behavior]}</td>
              <td>{TEXTS.explain.behaviors[after.behavior]}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
