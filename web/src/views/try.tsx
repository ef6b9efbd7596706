/**
 * Every tool with a form made from its schema; a call runs in a session like any other.
 */
import { useMemo, useState } from 'react';
import type { Place } from '../model/deep-link.ts';
import { issuesOf } from '../model/schema-form.ts';
import type { Tool } from '../model/wire.ts';
import { CallCard, type CardContext } from '../parts/call-card.tsx';
import { useConsole, useSessionFeed } from '../parts/console.tsx';
import { Button, Empty, Field, Problem, ViewHead } from '../parts/controls.tsx';
import { goTo, useAction, useLoaded } from '../parts/hooks.ts';
import { InputForm } from '../parts/input-form.tsx';
import { Code, Line } from '../parts/plain-text.tsx';
import { SessionPicker, useSessionChoice } from '../parts/session-picker.tsx';
import { TEXTS } from '../texts.ts';

/** Try. */
export function TryView({ place }: { readonly place: Place }) {
  const { server } = useConsole();
  const sessionId = useSessionChoice(place.sessionId);
  const [name, setName] = useState('Bash');
  const query = sessionId === undefined ? '' : `&session_id=${encodeURIComponent(sessionId)}`;
  const path = `/tools?format=full&schemas=full${query}`;
  const { value, problem } = useLoaded((signal) => server.request<{ tools: Tool[] }>('GET', path, { signal }), [path]);
  const tools = value?.tools ?? [];
  const tool = tools.find((each) => each.name === name) ?? tools[0];
  return (
    <div className="page">
      <ViewHead title={TEXTS.try.title} />
      <Problem>{problem}</Problem>
      <div className="try-head">
        <SessionPicker sessionId={sessionId} onChange={(id) => goTo({ view: 'try', sessionId: id })} />
        <Field label={TEXTS.try.tool}>
          {(ids) => (
            <select {...ids} value={tool?.name ?? ''} onChange={(event) => setName(event.target.value)}>
              {tools.map((each) => (
                <option key={each.name} value={each.name} disabled={each.state !== 'enabled'}>
                  {each.name}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
      {sessionId === undefined && <Empty title={TEXTS.try.needSession} icon="sessions" />}
      {tool && sessionId !== undefined && <ToolForm key={`${tool.name} ${sessionId}`} {...{ tool, sessionId }} />}
    </div>
  );
}

function ToolForm({ tool, sessionId }: { readonly tool: Tool; readonly sessionId: string }) {
  const { server } = useConsole();
  const [input, setInput] = useState<Readonly<Record<string, unknown>>>();
  const [isBroken, setBroken] = useState(false);
  const [isStrict, setStrict] = useState(false);
  const [ids, setIds] = useState<readonly string[]>([]);
  const value = input ?? {};
  const run = useAction(async () => {
    const id = `console_${crypto.randomUUID()}`;
    setIds((old) => [id, ...old].slice(0, 20));
    // The feed of the session shows what comes of it.
    const body = {
      session_id: sessionId,
      tool_uses: [{ type: 'tool_use', id, name: tool.name, input: value }],
      on_ask: 'wait',
    };
    await server.start('/execute', body);
  });
  const submit = () => {
    setStrict(true);
    if (!isBroken && issuesOf(value, tool.input_schema).length === 0) run.run();
  };
  return (
    <>
      <form
        className="try-form"
        aria-label={tool.name}
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <ToolWords tool={tool} />
        <InputForm
          schema={tool.input_schema}
          value={value}
          isStrict={isStrict}
          onChange={(next) => {
            setBroken(next === undefined);
            if (next !== undefined) setInput(next);
          }}
        />
        <Problem>{run.problem}</Problem>
        <div className="answers">
          <Button type="submit" look="primary" icon="try" disabled={run.isBusy || isBroken || tool.state !== 'enabled'}>
            {TEXTS.try.run}
          </Button>
          <Button
            look="quiet"
            onClick={() =>
              goTo({ view: 'explain', sessionId, query: JSON.stringify({ name: tool.name, input: value }) })
            }
          >
            {TEXTS.try.explain}
          </Button>
        </div>
      </form>
      {ids.length > 0 && <TriedCalls ids={ids} sessionId={sessionId} />}
    </>
  );
}

function ToolWords({ tool: { description, state } }: { readonly tool: Tool }) {
  return (
    <>
      <details className="tool-words">
        <summary>
          <Line text={description.split('\n', 1)[0] ?? ''} />
        </summary>
        <Code text={description} lines={60} isProse />
      </details>
      {state !== 'enabled' && (
        <p className="note warning">
          {TEXTS.try.disabled}
          <Line text={state} />
        </p>
      )}
    </>
  );
}

/** Calls that this page began, as their session tells of them. */
function TriedCalls({ ids, sessionId }: { readonly ids: readonly string[]; readonly sessionId: string }) {
  const feed = useSessionFeed(sessionId);
  const model = feed?.model;
  const context = useMemo<CardContext>(
    () => ({
      ...{ sessionId, isLinked: () => false },
      ...{ questions: model?.questions ?? new Map(), tasks: model?.tasks ?? new Map() },
    }),
    [sessionId, model],
  );
  const calls = ids.flatMap((id) => model?.calls.get(id) ?? []);
  return (
    <section className="tried" aria-label={TEXTS.try.result}>
      {calls.length === 0 && <p className="muted">{TEXTS.try.running}</p>}
      {calls.map((call) => (
        <CallCard key={call.id} call={call} version={call.version} context={context} />
      ))}
    </section>
  );
}
