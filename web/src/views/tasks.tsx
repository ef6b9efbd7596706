/**
 * Background tasks of a session, with the ends of their outputs.
 */
import type { SessionFeed } from '../api/session-feed.ts';
import { hrefOf } from '../model/deep-link.ts';
import { duration } from '../model/quantities.ts';
import type { Task } from '../model/session-model.ts';
import { useConsole } from '../parts/console.tsx';
import { Button, Empty, Problem } from '../parts/controls.tsx';
import { useAction, useNow } from '../parts/hooks.ts';
import { LongText } from '../parts/long-text.tsx';
import { Line, TailText } from '../parts/plain-text.tsx';
import { TEXTS } from '../texts.ts';

/** Tasks that are drawn; those that run come first. */
const MAX_TASKS = 100;

/** Background tasks. */
export function Tasks({ feed }: { readonly feed: SessionFeed }) {
  const tasks = [...feed.model.tasks.values()].reverse();
  const inOrder = [...tasks.filter(isRunning), ...tasks.filter((task) => !isRunning(task))].slice(0, MAX_TASKS);
  if (inOrder.length === 0) {
    return (
      <Empty title={TEXTS.tasks.empty} icon="running">
        {TEXTS.tasks.emptyHelp}
      </Empty>
    );
  }
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={TEXTS.tasks.title}>
      {inOrder.map((task) => (
        <TaskCard key={task.id} task={task} sessionId={feed.sessionId} />
      ))}
    </div>
  );
}

function TaskCard({ task, sessionId }: { readonly task: Task; readonly sessionId: string }) {
  const { server } = useConsole();
  const nowMs = useNow(1_000);
  const path = `/sessions/${encodeURIComponent(sessionId)}/tasks/${encodeURIComponent(task.id)}`;
  const stop = useAction(() => server.request('POST', `${path}/stop`, { body: {} }));
  return (
    <article className={`call task ${task.state}`} aria-label={task.description.slice(0, 120)}>
      <header className="call-head">
        <span className={`dot ${isRunning(task) ? 'running' : ''}`} aria-hidden="true" />
        <h2 className="task-title">
          <Line text={task.description} />
        </h2>
        <span className={`state ${task.state}`}>
          {TEXTS.tasks.states[task.state]}
          {task.exitCode !== undefined && `, ${TEXTS.tasks.exit(task.exitCode)}`}
        </span>
        <span className="call-time">{duration((task.endedMs ?? nowMs) - task.startedMs)}</span>
        {isRunning(task) && (
          <Button icon="stopped" disabled={stop.isBusy} onClick={() => stop.run()}>
            {TEXTS.tasks.stop}
          </Button>
        )}
      </header>
      <div className="call-body">
        {!task.output.isEmpty && <TailText text={task.output.text} droppedChars={task.output.droppedChars} />}
        {task.note && (
          <p className="muted">
            <Line text={task.note} />
          </p>
        )}
        <p className="call-facts">
          <LongText path={`${path}/output`} words={TEXTS.tasks.whole} />
          <a href={hrefOf({ view: 'sessions', sessionId, callId: task.callId })}>{TEXTS.waterfall.call}</a>
        </p>
        <Problem>{stop.problem}</Problem>
      </div>
    </article>
  );
}

function isRunning({ state }: Task): boolean {
  return state === 'running';
}
