/**
 * Services of every view: the server, the live list, the inbox and the feeds of sessions.
 */
import { createContext, useContext, useEffect, useState, useSyncExternalStore } from 'react';
import { Inbox } from '../api/inbox.ts';
import type { Server, SignedIn } from '../api/server.ts';
import { SessionFeed } from '../api/session-feed.ts';
import { SessionList } from '../api/session-list.ts';

/** The parts of a console that is signed in. */
export interface Console {
  readonly server: Server;
  readonly list: SessionList;
  readonly inbox: Inbox;
  readonly signedIn: SignedIn;
  signOut(): void;
  /** Say something to people who listen to the page. */
  announce(words: string): void;
}

const ConsoleContext = createContext<Console | undefined>(undefined);
export const ConsoleProvider = ConsoleContext.Provider;

/** The console around a view. */
export function useConsole(): Console {
  const found = useContext(ConsoleContext);
  if (found === undefined) throw new Error('This view stands outside the console');
  return found;
}

/** Start what lives as long as a sign-in. */
export function startConsole(server: Server): { list: SessionList; inbox: Inbox; close(): void } {
  const inbox = new Inbox(server);
  const list = new SessionList(server, () => void inbox.refresh());
  return {
    list,
    inbox,
    close() {
      list.close();
      inbox.close();
    },
  };
}

/** Follow a session while a view shows it. Drawn again at most once a frame of the screen. */
export function useSessionFeed(sessionId: string): SessionFeed | undefined {
  const { server } = useConsole();
  const [feed, setFeed] = useState<SessionFeed>();
  useEffect(() => {
    const opened = new SessionFeed(server, sessionId);
    setFeed(opened);
    return () => opened.close();
  }, [server, sessionId]);
  useSyncExternalStore(feed?.subscribe ?? never, feed?.getVersion ?? zero);
  return feed?.sessionId === sessionId ? feed : undefined;
}

function never(): () => void {
  return () => undefined;
}

function zero(): number {
  return 0;
}
