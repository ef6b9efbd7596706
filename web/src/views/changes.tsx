/**
 * Files that a session changed, with their diffs, and the way back.
 */
import { useState } from 'react';
import type { SessionFeed } from '../api/session-feed.ts';
import { inverted } from '../model/diff-rows.ts';
import { hrefOf } from '../model/deep-link.ts';
import { clock } from '../model/quantities.ts';
import type { ListedChange, UndoReply } from '../model/wire.ts';
import { useConsole } from '../parts/console.tsx';
import { Button, Dialog, Empty, Problem } from '../parts/controls.tsx';
import { Diff } from '../parts/diff.tsx';
import { useAction, useLoaded } from '../parts/hooks.ts';
import { Line } from '../parts/plain-text.tsx';
import { TEXTS } from '../texts.ts';

const PAGE = 100;
/** Pages that are kept in view. */
const MAX_PAGES = 20;

/** Diffs that a preview shows. */
const MAX_DIFFS = 20;

interface ChangePage {
  readonly changes: readonly ListedChange[];
  readonly next_from_seq?: number;
}

/** Changes that an undo takes back. */
type UndoTarget = { readonly tool_use_id: string } | { readonly to_seq: number };

/** Changes of a session. */
export function Changes({ feed: { sessionId, model } }: { readonly feed: SessionFeed }) {
  const { server } = useConsole();
  const [pages, setPages] = useState(1);
  const [target, setTarget] = useState<UndoTarget>();
  const path = `/sessions/${encodeURIComponent(sessionId)}/changes`;
  const { value, problem } = useLoaded(
    async (signal) => {
      const changes: ListedChange[] = [];
      let next: number | undefined = 0;
      for (let page = 0; page < pages && next !== undefined; page++) {
        const query: string = `${path}?from_seq=${next}&limit=${PAGE}`;
        const reply: ChangePage = await server.request<ChangePage>('GET', query, { signal });
        changes.push(...reply.changes);
        next = reply.next_from_seq;
      }
      return { changes: changes.reverse(), hasMore: next !== undefined };
    },
    [path, pages, model.changes],
  );
  if (!value) return problem ? <Problem>{problem}</Problem> : <p className="loading">{TEXTS.common.loading}</p>;
  if (value.changes.length === 0) {
    return (
      <Empty title={TEXTS.changes.empty} icon="ok">
        {TEXTS.changes.emptyHelp}
      </Empty>
    );
  }
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={TEXTS.changes.title}>
      <Problem>{problem}</Problem>
      {value.hasMore && (
        <Button disabled={pages >= MAX_PAGES} onClick={() => setPages(pages + 1)}>
          {TEXTS.changes.more}
        </Button>
      )}
      {value.changes.map((change) => (
        <ChangeCard key={`${change.seq} ${change.path}`} {...{ change, sessionId }} onUndo={setTarget} />
      ))}
      <Dialog title={TEXTS.changes.preview} isWide isOpen={target !== undefined} onClose={() => setTarget(undefined)}>
        {target && (
          <UndoPreview {...{ sessionId, target }} changes={value.changes} onDone={() => setTarget(undefined)} />
        )}
      </Dialog>
    </div>
  );
}

interface ChangeProps {
  readonly change: ListedChange;
  readonly sessionId: string;
  onUndo(target: UndoTarget): void;
}

function ChangeCard({ change, sessionId, onUndo }: ChangeProps) {
  const { path, kind, seq, ts, undoable, undone, tool_use_id: callId, tool_name: name } = change;
  return (
    <article className={`call change ${undone ? 'undone' : ''}`} aria-label={path.slice(0, 200)}>
      <header className="call-head">
        <span className={`state ${kind}`}>{TEXTS.changes.kinds[kind]}</span>
        <h2 className="task-title">
          <Line text={path} />
        </h2>
        <time dateTime={ts} className="call-time">
          {clock(ts)}
        </time>
      </header>
      <div className="call-body">
        {change.diff ? (
          <Diff path={path} hunks={change.diff.hunks} />
        ) : (
          change.diff_omitted && (
            <p className="muted">{TEXTS.changes.noDiff[change.diff_omitted] ?? change.diff_omitted}</p>
          )
        )}
        <p className="call-facts">
          <a href={hrefOf({ view: 'sessions', sessionId, callId })}>
            <Line text={name ?? TEXTS.waterfall.call} />
          </a>
          {undone && <span>{TEXTS.changes.undone}</span>}
          {!undoable && <span>{TEXTS.changes.notUndoable}</span>}
          {undoable && !undone && (
            <>
              <Button look="quiet" onClick={() => onUndo({ tool_use_id: callId })}>
                {TEXTS.changes.undo}
              </Button>
              <Button look="quiet" onClick={() => onUndo({ to_seq: seq - 1 })}>
                {TEXTS.changes.undoAll}
              </Button>
            </>
          )}
        </p>
      </div>
    </article>
  );
}

interface PreviewProps {
  readonly sessionId: string;
  readonly target: UndoTarget;
  readonly changes: readonly ListedChange[];
  onDone(): void;
}

function UndoPreview({ sessionId, target, changes, onDone }: PreviewProps) {
  const { server, announce } = useConsole();
  const path = `/sessions/${encodeURIComponent(sessionId)}/undo`;
  const { value, problem } = useLoaded(
    (signal) => server.request<UndoReply>('POST', path, { body: { ...target, dry_run: true }, signal }),
    [path, target],
  );
  const undo = useAction(async () => {
    const { files } = await server.request<UndoReply>('POST', path, { body: target });
    announce(TEXTS.session.undone(files.length, TEXTS.server.you));
    onDone();
  });
  if (problem) return <Problem>{problem}</Problem>;
  if (!value) return <p>{TEXTS.common.loading}</p>;
  const files = value.files.filter(({ kind }) => kind !== 'none');
  return (
    <>
      {files.length === 0 && <p>{TEXTS.changes.nothing}</p>}
      <ul className="items">
        {files.map(({ path: file, kind }) => (
          <li key={file}>
            <span className={`state ${kind}`}>{TEXTS.changes.kinds[kind]}</span> <Line text={file} />
          </li>
        ))}
        {value.left.map(({ path: file, reason }) => (
          <li key={file} className="muted">
            {TEXTS.changes.left}: <Line text={`${file} (${reason})`} />
          </li>
        ))}
      </ul>
      <WayBack {...{ target, changes }} />
      <Problem>{undo.problem}</Problem>
      <div className="answers">
        <Button look="danger" disabled={undo.isBusy || files.length === 0} onClick={() => undo.run()}>
          {TEXTS.changes.confirm}
        </Button>
        <Button onClick={onDone}>{TEXTS.common.cancel}</Button>
      </div>
    </>
  );
}

/** Diffs of what an undo takes back, the latest change first. */
function WayBack({ target, changes }: Pick<PreviewProps, 'target' | 'changes'>) {
  const taken = changes.filter(({ undone, undoable, seq, tool_use_id: id }) =>
    undone || !undoable ? false : 'to_seq' in target ? seq > target.to_seq : id === target.tool_use_id,
  );
  return taken
    .slice(0, MAX_DIFFS)
    .map(({ seq, path, diff }) => diff && <Diff key={`${seq} ${path}`} path={path} hunks={inverted(diff.hunks)} />);
}
