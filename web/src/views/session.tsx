/**
 * One session: its calls as they happen, their timing, tasks, changes and rules.
 */
import { DropdownMenu } from 'radix-ui';
import { useState } from 'react';
import type { SessionFeed } from '../api/session-feed.ts';
import type { SessionRecord } from '../api/session-list.ts';
import { hrefOf, type Place, SESSION_TABS, type SessionTab } from '../model/deep-link.ts';
import { shortPath } from '../model/quantities.ts';
import { useConsole, useSessionFeed } from '../parts/console.tsx';
import { Button, Dialog, Empty, Field, IconButton, Problem } from '../parts/controls.tsx';
import { goTo, useAction, useWatched } from '../parts/hooks.ts';
import { Icon } from '../parts/icons.tsx';
import { Line } from '../parts/plain-text.tsx';
import { TEXTS } from '../texts.ts';
import { Changes } from './changes.tsx';
import { Rules } from './rules.tsx';
import { Tasks } from './tasks.tsx';
import { Thread } from './thread.tsx';
import { Timing } from './timing.tsx';

/** A session. */
export function SessionView({ place }: { readonly place: Place }) {
  const { sessionId = '', tab = 'thread', callId } = place;
  const feed = useSessionFeed(sessionId);
  if (feed === undefined) return null;
  if (feed.state === 'gone') {
    return (
      <Empty title={TEXTS.connection.gone} icon="warning">
        <p>{feed.problem}</p>
        <a href={hrefOf({ view: 'sessions' })}>{TEXTS.sessions.back}</a>
      </Empty>
    );
  }
  return (
    <article className="session-view">
      <Head feed={feed} tab={tab} />
      {feed.model.gaps.map(({ from, to }) => (
        <p key={from} className="note">
          {TEXTS.session.gap(from, to)}
        </p>
      ))}
      <div className="session-body">
        <TabBody {...{ feed, tab, callId }} />
      </div>
    </article>
  );
}

function TabBody({ feed, tab, callId }: { feed: SessionFeed; tab: SessionTab; callId: string | undefined }) {
  switch (tab) {
    case 'thread':
      return <Thread feed={feed} callId={callId} />;
    case 'timing':
      return <Timing feed={feed} />;
    case 'tasks':
      return <Tasks feed={feed} />;
    case 'changes':
      return <Changes feed={feed} />;
    case 'rules':
      return <Rules feed={feed} />;
  }
}

function Head({ feed, tab }: { readonly feed: SessionFeed; readonly tab: SessionTab }) {
  const { list } = useConsole();
  const { sessionId, model } = feed;
  const record = useWatched(list.state).sessions.find(({ session_id: id }) => id === sessionId);
  const title = record?.title ?? model.opened?.title;
  const cwd = model.cwd ?? record?.cwd ?? '';
  const counts: Partial<Record<SessionTab, number>> = { tasks: model.tasks.size };
  return (
    <header className="session-head">
      <div className="session-line">
        <a className="icon-button only-narrow" href={hrefOf({ view: 'sessions' })} aria-label={TEXTS.sessions.back}>
          <Icon name="back" />
        </a>
        <h1>
          <Line text={title ?? shortPath(cwd)} />
        </h1>
        <Connection feed={feed} />
        <Actions sessionId={sessionId} record={record} isBusy={model.runningCalls.length > 0} />
      </div>
      <p className="session-place">
        <Line text={cwd} /> <span>{model.context?.mode ?? record?.mode ?? model.opened?.mode}</span>
        {model.opened?.parent && (
          <a
            href={hrefOf({
              view: 'sessions',
              sessionId: model.opened.parent.session_id,
              callId: model.opened.parent.tool_use_id,
            })}
          >
            <Icon name="agent" size={13} /> {TEXTS.sessions.child}
          </a>
        )}
      </p>
      <nav className="tabs" aria-label={TEXTS.session.tabsLabel}>
        {SESSION_TABS.map((each) => (
          <a
            key={each}
            href={hrefOf({ view: 'sessions', sessionId, tab: each })}
            aria-current={each === tab ? 'page' : undefined}
          >
            {TEXTS.session.tabs[each]}
            {(counts[each] ?? 0) > 0 && <span className="count">{counts[each]}</span>}
          </a>
        ))}
      </nav>
    </header>
  );
}

function Connection({ feed: { state } }: { readonly feed: SessionFeed }) {
  return (
    <span className={`connection ${state}`} role="status">
      <span className="dot" aria-hidden="true" /> {TEXTS.connection[state]}
    </span>
  );
}

interface ActionsProps {
  readonly sessionId: string;
  readonly record: SessionRecord | undefined;
  readonly isBusy: boolean;
}

function Actions({ sessionId, record, isBusy }: ActionsProps) {
  const { server, list } = useConsole();
  const [dialog, setDialog] = useState<'rename' | 'end'>();
  const path = `/sessions/${encodeURIComponent(sessionId)}`;
  const change = useAction(async (body: object) => {
    await server.request('PATCH', path, { body });
    await list.refresh();
    setDialog(undefined);
  });
  const end = useAction(async () => {
    await server.request('DELETE', path);
    await list.refresh();
    goTo({ view: 'sessions' });
  });
  const stop = useAction(() => server.request('POST', `${path}/cancel`, { body: {} }));
  const save = useAction(async (format: 'json' | 'markdown') => {
    download(await server.blob(`${path}/export?format=${format}`), `${sessionId}.${format === 'json' ? 'json' : 'md'}`);
  });
  const isArchived = record?.archived === true;
  return (
    <>
      {isBusy && (
        <Button icon="stopped" disabled={stop.isBusy} onClick={() => stop.run()}>
          {TEXTS.sessions.stop}
        </Button>
      )}
      {/* Without a portal, so that the menu is in its landmark. */}
      <DropdownMenu.Root modal={false}>
        <DropdownMenu.Trigger asChild>
          <IconButton icon="more" label={TEXTS.sessions.actions} />
        </DropdownMenu.Trigger>
        <DropdownMenu.Content className="menu" align="end">
          <Item words={TEXTS.sessions.rename} onSelect={() => setDialog('rename')} />
          <Item
            words={isArchived ? TEXTS.sessions.unarchive : TEXTS.sessions.archive}
            onSelect={() => change.run({ archived: !isArchived })}
          />
          <Item words={TEXTS.sessions.exportJson} onSelect={() => save.run('json')} />
          <Item words={TEXTS.sessions.exportMarkdown} onSelect={() => save.run('markdown')} />
          <Item words={TEXTS.sessions.end} onSelect={() => setDialog('end')} isDangerous />
        </DropdownMenu.Content>
      </DropdownMenu.Root>
      <Problem>{change.problem ?? save.problem ?? stop.problem}</Problem>
      <Dialog title={TEXTS.sessions.rename} isOpen={dialog === 'rename'} onClose={() => setDialog(undefined)}>
        <RenameForm title={record?.title ?? ''} isBusy={change.isBusy} onSave={(title) => change.run({ title })} />
      </Dialog>
      <Dialog title={TEXTS.sessions.end} isOpen={dialog === 'end'} onClose={() => setDialog(undefined)}>
        <p>{TEXTS.sessions.endSure}</p>
        <Problem>{end.problem}</Problem>
        <div className="answers">
          <Button look="danger" disabled={end.isBusy} onClick={() => end.run()}>
            {TEXTS.sessions.end}
          </Button>
          <Button onClick={() => setDialog(undefined)}>{TEXTS.common.cancel}</Button>
        </div>
      </Dialog>
    </>
  );
}

function Item({ words, onSelect, isDangerous }: { words: string; isDangerous?: boolean; onSelect(): void }) {
  return (
    <DropdownMenu.Item className={`menu-item ${isDangerous ? 'danger' : ''}`} onSelect={onSelect}>
      {words}
    </DropdownMenu.Item>
  );
}

function RenameForm({ title, isBusy, onSave }: { title: string; isBusy: boolean; onSave(title: string): void }) {
  const [text, setText] = useState(title);
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        onSave(text.trim());
      }}
    >
      <Field label={TEXTS.newSession.name}>
        {(ids) => (
          <input
            {...ids}
            type="text"
            maxLength={500}
            autoFocus
            value={text}
            onChange={(e) => setText(e.target.value)}
          />
        )}
      </Field>
      <Button type="submit" look="primary" disabled={isBusy}>
        {TEXTS.common.save}
      </Button>
    </form>
  );
}

/** Hand a file to the person, as a link to it would. */
function download(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = Object.assign(document.createElement('a'), { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
