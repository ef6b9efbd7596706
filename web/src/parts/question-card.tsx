/**
 * A question with everything that a person needs to answer it.
 */
import { useEffect, useRef, useState } from 'react';
import { codeOf } from '../api/server.ts';
import { hrefOf } from '../model/deep-link.ts';
import { age, shortPath } from '../model/quantities.ts';
import { issuesOf } from '../model/schema-form.ts';
import type { Answer, BlockOf, InboxQuestion, Tool, Updates } from '../model/wire.ts';
import { TEXTS } from '../texts.ts';
import { AlwaysAllow } from './always-allow.tsx';
import { AnswerForm, firstValues, type FormValues, isFilled } from './answer-form.tsx';
import { useConsole } from './console.tsx';
import { Button, Field, Problem } from './controls.tsx';
import { DisplayBlocks } from './display.tsx';
import { type Action, useAction, useKeys, useLoaded, useNow, useWatched } from './hooks.ts';
import { Icon } from './icons.tsx';
import { InputForm } from './input-form.tsx';
import { Line } from './plain-text.tsx';
import { Reason } from './reason.tsx';

interface Props {
  readonly question: InboxQuestion;
  /** The keys of the page answer this question. */
  readonly isChosen?: boolean;
  /** Inside its call, which shows the same display already. */
  readonly isInline?: boolean;
  onChoose?(): void;
}

type Answering = Action<[Answer]>;
type Panel = 'none' | 'deny' | 'edit' | 'always';

/** A question. It is drawn until the inbox or its session says that it is settled. */
export function QuestionCard({ question, isChosen = false, isInline = false, onChoose }: Props) {
  const [panel, setPanel] = useState<Panel>('none');
  const form = question.display.blocks.find((block): block is BlockOf<'form'> => block.kind === 'form');
  const answer = useAnswer(question);
  const element = useRef<HTMLElement>(null);
  useEffect(() => {
    // Chosen by a press of the mouse, it must not move away from under it.
    const isPressed = element.current?.contains(document.activeElement);
    if (isChosen && !isInline && !isPressed) element.current?.scrollIntoView({ block: 'nearest' });
  }, [isChosen, isInline]);
  // Inside a thread, the keys are for the call that has the focus.
  const isAddressed = () =>
    form === undefined && (isChosen || element.current?.closest('.row')?.contains(document.activeElement) === true);
  useKeys(
    {
      a: () => isAddressed() && answer.run({ behavior: 'allow' }),
      d: () => isAddressed() && setPanel('deny'),
      e: () => isAddressed() && setPanel('edit'),
    },
    (isChosen || isInline) && !answer.isBusy,
  );
  return (
    <article
      ref={element}
      className={`question ${isChosen ? 'chosen' : ''} ${question.destructive ? 'destructive' : ''}`}
      aria-label={question.title}
      aria-current={isChosen || undefined}
      onFocusCapture={onChoose}
    >
      <QuestionHead question={question} isInline={isInline} />
      {!isInline && <DisplayBlocks blocks={question.display.blocks} />}
      {form ? (
        <FormAnswer question={question} form={form} answer={answer} />
      ) : (
        <>
          <div className="answers">
            <Button look="primary" disabled={answer.isBusy} onClick={() => answer.run({ behavior: 'allow' })}>
              {TEXTS.questions.allow}
            </Button>
            <Button disabled={answer.isBusy} onClick={() => answer.run({ behavior: 'deny' })}>
              {TEXTS.questions.deny}
            </Button>
            <PanelButton panel="deny" {...{ current: panel, setPanel }} words={TEXTS.questions.denyWith} />
            <PanelButton panel="edit" {...{ current: panel, setPanel }} words={TEXTS.questions.edit} />
            {question.suggestions.length > 0 && (
              <PanelButton panel="always" {...{ current: panel, setPanel }} words={TEXTS.questions.always} />
            )}
          </div>
          {panel === 'deny' && <DenyPanel answer={answer} />}
          {panel === 'edit' && <EditPanel question={question} answer={answer} />}
          {panel === 'always' && <AlwaysAllow question={question} answer={answer} />}
        </>
      )}
      <Problem>{answer.problem}</Problem>
    </article>
  );
}

/** Send answers to one question. */
function useAnswer(question: InboxQuestion): Answering {
  const { inbox, announce } = useConsole();
  return useAction(async (answer: Answer) => {
    try {
      const { pending } = await inbox.answer(question, answer);
      announce(pending ? TEXTS.questions.otherNeeded : TEXTS.questions.answered);
    } catch (error) {
      if (codeOf(error) !== 'conflict') throw error;
      announce(TEXTS.questions.alreadyAnswered);
    }
  });
}

function QuestionHead({ question, isInline }: { readonly question: InboxQuestion; readonly isInline: boolean }) {
  const { title, description, display, warnings, destructive, reason, approvals, expires_at: expiresAt } = question;
  const nowMs = useNow(10_000);
  const leftMs = Date.parse(expiresAt) - nowMs;
  return (
    <>
      {!isInline && (
        <header className="question-head">
          <Icon name="waiting" />
          <h2>
            <Line text={display.title} />
          </h2>
          <SessionLink question={question} />
        </header>
      )}
      {!isInline && display.subtitle && <Line text={display.subtitle} className="subtitle" />}
      <p className="question-why">
        <Line text={title} />
      </p>
      {description && !isShown(description, question) && (
        <p className="muted">
          <Line text={description} />
        </p>
      )}
      {(destructive || warnings.length > 0) && (
        <ul className="warnings" aria-label={TEXTS.questions.warnings}>
          {destructive && <li>{TEXTS.questions.destructive}</li>}
          {warnings.map((warning) => (
            <li key={warning}>
              <Line text={warning} />
            </li>
          ))}
        </ul>
      )}
      <p className="question-facts">
        <Reason reason={reason} />
        {approvals && <span>{TEXTS.questions.needs(approvals.needed, approvals.by.join(', '))}</span>}
        <StopsAsking updates={question.suggestions} />
        {leftMs > 0 && <span>{TEXTS.questions.expires(`in ${age(nowMs, Date.parse(expiresAt))}`)}</span>}
      </p>
    </>
  );
}

/** Rules with which calls like this one would not be asked about. */
function StopsAsking({ updates }: { readonly updates: Updates }) {
  const rules = updates.flatMap((update) => ('rules' in update ? update.rules : []));
  if (rules.length === 0) return null;
  return (
    <span>
      {TEXTS.questions.stops}{' '}
      {rules.slice(0, 3).map((rule) => (
        <code key={rule} className="rule">
          <Line text={rule} />
        </code>
      ))}
    </span>
  );
}

/** True if the display says the same already. */
function isShown(words: string, { display }: InboxQuestion): boolean {
  if (words === display.title || words === display.subtitle) return true;
  return display.blocks.some((block) => 'text' in block && block.text.includes(words));
}

function SessionLink({
  question: { session_id: sessionId, tool_use_id: callId },
}: {
  readonly question: InboxQuestion;
}) {
  const { list } = useConsole();
  const record = useWatched(list.state).sessions.find(({ session_id: id }) => id === sessionId);
  const words = record?.title ?? (record ? shortPath(record.cwd) : sessionId.slice(0, 12));
  return (
    <a className="muted" href={hrefOf({ view: 'sessions', sessionId, callId })}>
      <span className="hidden">{TEXTS.questions.inSession}</span> <Line text={words} />
    </a>
  );
}

interface PanelButtonProps {
  readonly panel: Panel;
  readonly current: Panel;
  readonly words: string;
  setPanel(panel: Panel): void;
}

function PanelButton({ panel, current, words, setPanel }: PanelButtonProps) {
  const isOpen = panel === current;
  return (
    <Button look="quiet" aria-expanded={isOpen} onClick={() => setPanel(isOpen ? 'none' : panel)}>
      {words}
    </Button>
  );
}

function DenyPanel({ answer }: { readonly answer: Answering }) {
  const [message, setMessage] = useState('');
  return (
    <form
      className="panel"
      onSubmit={(event) => {
        event.preventDefault();
        answer.run({ behavior: 'deny', ...(message && { message }) });
      }}
    >
      <Field label={TEXTS.questions.message}>
        {(ids) => (
          <textarea
            {...ids}
            rows={2}
            maxLength={10_000}
            autoFocus
            value={message}
            onChange={(e) => setMessage(e.target.value)}
          />
        )}
      </Field>
      <Button type="submit" look="danger" disabled={answer.isBusy}>
        {TEXTS.questions.deny}
      </Button>
    </form>
  );
}

function EditPanel({ question, answer }: { readonly question: InboxQuestion; readonly answer: Answering }) {
  const { server } = useConsole();
  const original = question.input as Record<string, unknown>;
  const [input, setInput] = useState<Readonly<Record<string, unknown>> | undefined>(original);
  const path = `/tools/${encodeURIComponent(question.tool_name)}`;
  // The schema is a help alone: the server checks the input again.
  const tool = useLoaded((signal) => server.request<Tool>('GET', path, { signal }), [path]);
  const schema = tool.value?.input_schema;
  const issues = input ? issuesOf(input, schema) : [];
  return (
    <div className="panel">
      <p className="help">{TEXTS.questions.voidsYes}</p>
      {!tool.isLoading && <InputForm schema={schema} value={input ?? original} onChange={setInput} isStrict />}
      <div className="answers">
        <Button
          look="primary"
          disabled={answer.isBusy || input === undefined || issues.length > 0}
          onClick={() => input && answer.run({ behavior: 'allow', updated_input: input })}
        >
          {TEXTS.questions.allowEdited}
        </Button>
        {issues[0] && (
          <span className="problem">
            {TEXTS.questions.badInput} {issues[0].path} {issues[0].message}
          </span>
        )}
      </div>
    </div>
  );
}

interface FormAnswerProps {
  readonly question: InboxQuestion;
  readonly form: BlockOf<'form'>;
  readonly answer: Answering;
}

function FormAnswer({ question, form, answer }: FormAnswerProps) {
  const [values, setValues] = useState<FormValues>(() => firstValues(form));
  const submit = () => {
    const input = question.input as Record<string, unknown>;
    answer.run({ behavior: 'allow', updated_input: { ...input, [form.key]: values } });
  };
  return (
    <form
      className="panel"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <AnswerForm form={form} values={values} onChange={setValues} />
      <div className="answers">
        <Button type="submit" look="primary" disabled={answer.isBusy || !isFilled(form, values)}>
          {TEXTS.questions.submit}
        </Button>
        <Button disabled={answer.isBusy} onClick={() => answer.run({ behavior: 'deny' })}>
          {TEXTS.questions.deny}
        </Button>
      </div>
    </form>
  );
}
