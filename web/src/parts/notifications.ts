/**
 * Tells of new questions: in the title of the page, to who listens to it, and on the desktop while the page is hidden.
 */
import { useEffect, useRef } from 'react';
import { hrefOf } from '../model/deep-link.ts';
import { visibleLine } from '../model/visible.ts';
import type { InboxQuestion } from '../model/wire.ts';
import { TEXTS } from '../texts.ts';
import { useConsole } from './console.tsx';
import { useWatched } from './hooks.ts';

/** Notifications for questions that come at once. */
const MAX_AT_ONCE = 3;

/** Tell of questions as long as the console is drawn. */
export function useNotifications(): void {
  const { inbox, announce } = useConsole();
  const { questions, isLoaded } = useWatched(inbox.state);
  const known = useRef<ReadonlySet<string>>(undefined);
  const shown = useRef(new Map<string, Notification>());
  useEffect(() => {
    document.title = questions.length > 0 ? `(${questions.length}) ${TEXTS.product}` : TEXTS.product;
  }, [questions.length]);
  useEffect(() => {
    if (!isLoaded) return;
    const fresh = known.current ? questions.filter(({ request_id: id }) => !known.current?.has(id)) : [];
    known.current = new Set(questions.map(({ request_id: id }) => id));
    const [first] = fresh;
    if (first) announce(TEXTS.questions.newOne(visibleLine(first.display.title)));
    for (const question of fresh.slice(0, MAX_AT_ONCE)) notify(question, shown.current);
    for (const [id, notification] of shown.current) {
      if (known.current.has(id)) continue;
      notification.close();
      shown.current.delete(id);
    }
  }, [questions, isLoaded, announce]);
}

function notify(question: InboxQuestion, shown: Map<string, Notification>): void {
  if (!document.hidden || !('Notification' in window) || Notification.permission !== 'granted') return;
  const { request_id: id, display, title } = question;
  try {
    const notification = new Notification(visibleLine(display.title), { body: visibleLine(title), tag: id });
    notification.onclick = () => {
      window.focus();
      location.hash = hrefOf({ view: 'questions' });
      notification.close();
    };
    shown.set(id, notification);
  } catch {
    // Browsers on phones want a service worker for it; the title and the inbox tell of the question all the same.
  }
}
