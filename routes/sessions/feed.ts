/**
 * `GET /sessions/events`: news of the caller's sessions, live, as Server-Sent Events.
 */
import type { SessionNews } from '../../src/session/directory/session-feed.ts';
import type { DoorContext } from '../dependencies.ts';
import { clientGone, pipeReply } from '../pipe-reply.ts';
import type { App } from '../request-schemas.ts';

const EVENT_STREAM = 'text/event-stream';

/** Register the route. */
export function sessionFeedDoor(app: App, { directory, limits, closing }: DoorContext): void {
  const config = { summary: 'News of your sessions, live', reply: { text: [EVENT_STREAM] } } as const;
  // The reply to a HEAD request would never end.
  app.get('/sessions/events', { exposeHeadRoute: false, config }, async ({ principal }, reply) => {
    const gone = clientGone(reply);
    async function* chunks(): AsyncGenerator<string> {
      for await (const news of directory.watch(principal, AbortSignal.any([gone, closing]))) {
        // One by one: what a slow reader has not taken is not written yet, and is shared with other readers.
        for (const each of news) yield eventText(each);
      }
    }
    const long = { contentType: `${EVENT_STREAM}; charset=utf-8`, heartbeat: ':\n\n', chunks: chunks() };
    return pipeReply(reply, long, gone, limits);
  });
}

function eventText(news: SessionNews): string {
  return `event: ${news.kind}\ndata: ${JSON.stringify(eventData(news))}\n\n`;
}

function eventData(news: SessionNews): object {
  if (news.kind === 'session') return news.session;
  return news.kind === 'removed' ? { session_id: news.sessionId } : {};
}
