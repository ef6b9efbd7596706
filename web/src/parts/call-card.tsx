/**
 * A call of the thread: what it is, what it does while it runs, and what came of it.
 */
import { memo, useState } from 'react';
import { type Call, toneOf } from '../model/call.ts';
import { hrefOf } from '../model/deep-link.ts';
import { duration } from '../model/quantities.ts';
import type { Task } from '../model/session-model.ts';
import type { Display, OpenQuestion } from '../model/wire.ts';
import { TEXTS } from '../texts.ts';
import { useConsole } from './console.tsx';
import { Button, IconButton } from './controls.tsx';
import { DisplayBlocks } from './display.tsx';
import { useAction, useNow } from './hooks.ts';
import { Icon, TONE_ICONS } from './icons.tsx';
import { Code, Line, TailText } from './plain-text.tsx';
import { QuestionCard } from './question-card.tsx';
import { Reason } from './reason.tsx';
import { SpilledText } from './long-text.tsx';

/** The part of its session that a card knows. */
export interface CardContext {
  readonly sessionId: string;
  readonly questions: ReadonlyMap<string, OpenQuestion>;
  readonly tasks: ReadonlyMap<string, Task>;
  readonly isLinked: (callId: string) => boolean;
}

interface Props {
  readonly call: Call;
  /** The call's own count of its changes: the call stays the same object. */
  readonly version: number;
  readonly context: CardContext;
  /** Drawn in a line until somebody opens it, since others like it stand around it. */
  readonly isCondensed?: boolean;
}

/** A call. */
export const CallCard = memo(function CallCard({ call, context, isCondensed = false }: Props) {
  const [wanted, setWanted] = useState<boolean>();
  const tone = toneOf(call);
  const isOpen = wanted ?? (context.isLinked(call.id) || !isCondensed || tone !== 'ok' || hasPicture(call));
  return (
    <article className={`call tone-${tone} ${context.isLinked(call.id) ? 'linked' : ''}`} aria-label={labelOf(call)}>
      <CallHead call={call} isOpen={isOpen} onToggle={() => setWanted(!isOpen)} context={context} />
      {isOpen && <CallBody call={call} context={context} />}
    </article>
  );
}, isSameCall);

function isSameCall(before: Props, after: Props): boolean {
  return (
    before.call === after.call &&
    before.version === after.version &&
    before.isCondensed === after.isCondensed &&
    before.context === after.context
  );
}

function CallHead({
  call,
  isOpen,
  onToggle,
  context,
}: {
  call: Call;
  isOpen: boolean;
  context: CardContext;
  onToggle(): void;
}) {
  const tone = toneOf(call);
  const { display, result } = call;
  const shown = result && (isOpen ? result.display : (result.condensed ?? result.display));
  const subtitle = display?.subtitle ?? shown?.subtitle;
  return (
    <header className="call-head">
      <span className="call-icon">
        <Icon name={TONE_ICONS[tone]} />
        <span className="hidden">{TEXTS.call.tones[tone]}</span>
      </span>
      <button
        type="button"
        className="call-title"
        aria-expanded={isOpen}
        title={isOpen ? TEXTS.call.collapse : TEXTS.call.expand}
        onClick={onToggle}
      >
        <Line text={display?.title ?? call.name} className="call-name" />
        {!isOpen && <Line text={firstWords(display)} className="call-words" />}
        {isOpen && subtitle && !display?.title.includes(subtitle) && <Line text={subtitle} className="call-words" />}
        {shown && !(isOpen && isTroubled(call)) && (
          <Line text={shown.title} className={`call-outcome ${shown.tone ?? ''}`} />
        )}
      </button>
      <CallTime call={call} />
      {!call.isDone && <StopButton call={call} sessionId={context.sessionId} />}
    </header>
  );
}

function CallTime({ call }: { readonly call: Call }) {
  const { result } = call;
  if (result) return <span className="call-time">{duration(result.summary.duration_ms)}</span>;
  return call.phase === 'queued' || call.phase === 'streaming' ? null : <RunningTime call={call} />;
}

function RunningTime({ call }: { readonly call: Call }) {
  const nowMs = useNow(1_000);
  return <span className="call-time">{duration(nowMs - (call.times.gateMs ?? call.times.acceptedMs))}</span>;
}

function StopButton({ call, sessionId }: { readonly call: Call; readonly sessionId: string }) {
  const { server } = useConsole();
  const path = `/sessions/${encodeURIComponent(sessionId)}/cancel`;
  const stop = useAction(() => server.request('POST', path, { body: { tool_use_id: call.id } }));
  return <IconButton icon="stopped" label={TEXTS.call.stop} disabled={stop.isBusy} onClick={() => stop.run()} />;
}

function CallBody({ call, context }: { readonly call: Call; readonly context: CardContext }) {
  const { display, output, note, result, requestId } = call;
  const question = requestId === undefined || isAskedBelow(call) ? undefined : context.questions.get(requestId);
  return (
    <div className="call-body">
      {call.phase === 'streaming' ? (
        <Arriving blocks={display?.blocks ?? NO_BLOCKS} />
      ) : (
        <DisplayBlocks blocks={stillTrue(display, result?.display)} />
      )}
      {question && (
        <QuestionCard key={question.request_id} question={{ ...question, session_id: context.sessionId }} isInline />
      )}
      {!call.isDone && call.activity && output.isEmpty && !question && call.phase === 'running' && (
        <p className="muted">
          <Line text={call.activity} />
        </p>
      )}
      {!output.isEmpty && <TailText text={output.text} droppedChars={output.droppedChars} />}
      {note && <DisplayBlocks blocks={note.blocks} />}
      <InnerCalls call={call} context={context} />
      <Agents call={call} context={context} />
      {result && isTroubled(call) && (
        <p className="outcome">
          <Line text={outcomeOf(call)} />
        </p>
      )}
      {result && <DisplayBlocks blocks={blocksOf(call, result.display)} />}
      {result?.summary.spilled && <SpilledText sessionId={context.sessionId} call={result.summary} />}
      <CallFacts call={call} context={context} />
    </div>
  );
}

/** True if the question of an agent is drawn on its own call, and need not be on this one, too. */
function isAskedBelow({ requestId, agents }: Call): boolean {
  return agents.some(({ thread }) =>
    thread.rows.some((row) => row.kind === 'calls' && row.calls.some((call) => call.requestId === requestId)),
  );
}

/** An input that still comes in: of long texts the end is where something happens. */
function Arriving({ blocks }: Pick<Display, 'blocks'>) {
  return (
    <>
      {blocks.map((block, index) =>
        block.kind === 'code' || block.kind === 'text' ? (
          <TailText key={index} text={block.text} droppedChars={0} />
        ) : (
          <DisplayBlocks key={index} blocks={[block]} />
        ),
      )}
      <p className="muted">{TEXTS.call.streaming}</p>
    </>
  );
}

/** Blocks of a call without the diffs that its result tells again, with the lines around them. */
function stillTrue(display: Display | undefined, result: Display | undefined): Display['blocks'] {
  const blocks = display?.blocks ?? NO_BLOCKS;
  const isTold = result?.blocks.some(({ kind }) => kind === 'diff') === true;
  return isTold && blocks.some(({ kind }) => kind === 'diff') ? blocks.filter(({ kind }) => kind !== 'diff') : blocks;
}

const NO_BLOCKS: Display['blocks'] = [];

function blocksOf(call: Call, result: Display): Display['blocks'] {
  const blocks = newBlocks(call.display, result);
  return isTroubled(call) ? asOutput(blocks) : blocks;
}

/** Outcome of a call, where its title says no more than that of the call. */
function outcomeOf({ display, result, name }: Call): string {
  const { title = '', subtitle } = result?.display ?? {};
  return title === (display?.title ?? name) || title === name ? (subtitle ?? title) : title;
}

/** Text of a failed call: mostly the output of a program, where columns and indents count. */
function asOutput(blocks: Display['blocks']): Display['blocks'] {
  return blocks.map((block) => (block.kind === 'text' ? { kind: 'code', text: block.text } : block));
}

/** Blocks of a result without those that the call shows already, such as the diff of an edit. */
function newBlocks(display: Display | undefined, result: Display): Display['blocks'] {
  const known = new Set((display?.blocks ?? []).map((block) => JSON.stringify(block)));
  return known.size === 0 ? result.blocks : result.blocks.filter((block) => !known.has(JSON.stringify(block)));
}

function CallFacts({ call, context }: { readonly call: Call; readonly context: CardContext }) {
  const { result, resolution } = call;
  const tasks = call.taskIds.flatMap((id) => context.tasks.get(id) ?? []);
  const isRefused = result?.summary.status === 'denied' && result.decision;
  const facts = [
    result?.summary.error_code && <code key="code">{result.summary.error_code}</code>,
    isRefused && result.decision && <Reason key="reason" reason={result.decision.reason} />,
    resolution && (
      <span key="answer">
        <Line text={TEXTS.call.answered(resolution.behavior, resolution.by)} />
      </span>
    ),
    (isRefused || (call.phase === 'asking' && !isAskedBelow(call))) && (
      <a key="explain" href={hrefOf({ view: 'explain', sessionId: context.sessionId, query: textOfCall(call) })}>
        {TEXTS.call.explain}
      </a>
    ),
    result?.summary.truncated && <span key="truncated">{TEXTS.call.truncated}</span>,
    result?.summary.rewritten && <span key="rewritten">{TEXTS.call.rewritten}</span>,
    result?.summary.replayed && <span key="replayed">{TEXTS.call.replayed}</span>,
    ...tasks.map((task) => (
      <a key={task.id} href={hrefOf({ view: 'sessions', sessionId: context.sessionId, tab: 'tasks' })}>
        {TEXTS.call.tasks}: {TEXTS.tasks.states[task.state]}
      </a>
    )),
  ].filter(Boolean);
  return facts.length === 0 ? null : <p className="call-facts">{facts}</p>;
}

/** A call as the view of explanations takes it. Longer ones make no address. */
function textOfCall({ name, input }: Call): string {
  const text = JSON.stringify({ name, input });
  return text.length > MAX_ADDRESS_CHARS ? '' : text;
}

const MAX_ADDRESS_CHARS = 8_000;

/** Inner calls that are drawn at first. */
const SHOWN_INNER = 20;

function InnerCalls({ call, context }: { readonly call: Call; readonly context: CardContext }) {
  const [limit, setLimit] = useState(SHOWN_INNER);
  if (call.inner.length === 0) return null;
  const hidden = call.inner.length - limit;
  return (
    <section className="nested" aria-label={TEXTS.call.innerCalls(call.inner.length)}>
      <p className="nested-head">{TEXTS.call.innerCalls(call.inner.length)}</p>
      {hidden > 0 && (
        <Button look="quiet" onClick={() => setLimit(limit * 5)}>
          {TEXTS.call.moreRows(hidden)}
        </Button>
      )}
      {call.inner.slice(-limit).map((inner) => (
        <CallCard key={inner.id} call={inner} version={inner.version} context={context} isCondensed />
      ))}
    </section>
  );
}

function Agents({ call, context }: { readonly call: Call; readonly context: CardContext }) {
  return call.agents.map(({ sessionId, thread, words }) => {
    const calls = thread.rows.flatMap((row) => (row.kind === 'calls' ? row.calls : []));
    return (
      <section key={sessionId} className="nested" aria-label={TEXTS.call.agent}>
        <p className="nested-head">
          <Icon name="agent" /> {TEXTS.call.agent} · {TEXTS.call.groupOf(calls.length)}{' '}
          <a href={hrefOf({ view: 'sessions', sessionId })}>{TEXTS.call.openAgent}</a>
        </p>
        {calls.slice(-SHOWN_INNER).map((inner) => (
          <CallCard
            key={inner.id}
            call={inner}
            version={inner.version}
            context={{ ...context, sessionId }}
            isCondensed
          />
        ))}
        {!words.isEmpty && (
          <div className="agent-words">
            <p className="muted">{TEXTS.call.agentSays}</p>
            <Code text={words.text} lines={6} />
          </div>
        )}
      </section>
    );
  });
}

/** The first line of what a call is about, for its condensed form. */
function firstWords(display: Display | undefined): string {
  if (display?.subtitle) return display.subtitle;
  const block = display?.blocks.find((each) => each.kind === 'code' || each.kind === 'text');
  return block && 'text' in block ? (block.text.slice(0, 400).split('\n', 1)[0] ?? '') : '';
}

/** True if there is more to say than that it worked: a fault is told in full. */
function isTroubled({ result }: Call): boolean {
  return result !== undefined && result.summary.status !== 'ok';
}

function hasPicture(call: Call): boolean {
  return (
    call.result?.display.blocks.some(({ kind }) => kind === 'image' || kind === 'diff' || kind === 'form') === true
  );
}

function labelOf(call: Call): string {
  return `${(call.display?.title ?? call.name).slice(0, 120)}: ${TEXTS.call.tones[toneOf(call)]}`;
}
