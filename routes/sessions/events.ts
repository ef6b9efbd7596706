/**
 * `GET /sessions/{id}/events`: the log in pages, or live as Server-Sent Events or NDJSON.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import type { LoggedFrame } from '../../src/log/frame-log.ts';
import type { EventsHead, LogGap } from '../../src/wire/session-replies.ts';
import type { Session } from '../../src/session/session.ts';
import type { DoorContext } from '../dependencies.ts';
import { FRAME_TYPES, writingFor, type FrameWriting } from '../frame-text.ts';
import { logStart, type LogStart } from '../log-start.ts';
import { clientGone, pipeReply } from '../pipe-reply.ts';
import { queryNumber } from '../query-number.ts';
import { type App, SessionAddress } from '../request-schemas.ts';
import { sessionFinder } from './index.ts';

const EVENTS_REPLY = { json: 'Events', text: FRAME_TYPES } as const;

/** Frames in one page. */
const MAX_PAGE_FRAMES = 1_000;

/** Register the route of events. */
export function eventsDoor(app: App, context: DoorContext): void {
  const sessionOf = sessionFinder(context);
  const Query = z.strictObject({
    from_seq: queryNumber(0).default(0).describe('Frames after this one'),
    limit: queryNumber(1, MAX_PAGE_FRAMES).default(MAX_PAGE_FRAMES).describe('Most frames in the page'),
  });

  app.get(
    '/sessions/:id/events',
    // The reply to a HEAD request would never end.
    {
      exposeHeadRoute: false,
      schema: { params: SessionAddress, querystring: Query },
      config: { summary: 'Frames of the session', reply: EVENTS_REPLY },
    },
    async (request, reply) => {
      const { query } = request;
      const session = await sessionOf(request);
      const seen = lastEvent(request.headers['last-event-id']) ?? { fromSeq: query.from_seq };
      const start = logStart(session, seen);
      const writing = writingFor(request.headers.accept);
      if (writing !== undefined) return follow(session, start, writing, reply, context);
      const body = pageBody(session, start, await readPage(session, start, query.limit));
      return reply.header('content-type', 'application/json; charset=utf-8').send(body);
    },
  );
}

/** Parse `<epoch>.<seq>`, the `id` of the last event that a browser received. */
function lastEvent(header: FastifyRequest['headers'][string]): { epoch: string; fromSeq: number } | undefined {
  const [, epoch, seq] = /^([^.]+)\.(\d{1,15})$/.exec(String(header ?? '')) ?? [];
  return epoch === undefined ? undefined : { epoch, fromSeq: Number(seq) };
}

/** Stream frames until the client disconnects or the app closes; then send the rest of the log, and end. */
function follow(
  session: Session,
  start: LogStart,
  writing: FrameWriting,
  reply: FastifyReply,
  { limits, closing }: DoorContext,
): Promise<void> {
  const gone = clientGone(reply);
  const gaps: LogGap[] = [];
  const onGap = (gap: LogGap) => void gaps.push(gap);

  async function* chunks(): AsyncGenerator<string> {
    let { after } = start;
    for (const live of [true, false]) {
      const signal = live ? AbortSignal.any([gone, closing]) : gone;
      for await (const page of session.read(after, { live, signal, onGap })) {
        for (const gap of gaps.splice(0)) yield writing.writeControl({ type: 'gap', ...gap });
        yield writing.write(page, session.epoch);
        after = page.at(-1)?.seq ?? after;
      }
    }
  }
  return pipeReply(reply, { ...writing, chunks: chunks() }, gone, limits);
}

interface Page {
  readonly frames: readonly LoggedFrame[];
  /** Frames that retention deleted, or that are damaged on disk. */
  readonly gaps: readonly LogGap[];
}

async function readPage(session: Session, start: LogStart, limit: number): Promise<Page> {
  const frames: LoggedFrame[] = [];
  const gaps: LogGap[] = [];
  const onGap = (gap: LogGap) => void gaps.push(gap);
  for await (const some of session.read(start.after, { live: false, onGap })) {
    frames.push(...some.slice(0, limit - frames.length));
    if (frames.length >= limit) break;
  }
  return { frames, gaps };
}

/** Frames are JSON already, so they are joined without parsing. */
function pageBody(session: Session, start: LogStart, { frames, gaps }: Page): string {
  const { first, head } = session.bounds();
  const pageHead: EventsHead = {
    epoch: session.epoch,
    first,
    head,
    up_to_date: (frames.at(-1)?.seq ?? start.after) >= head,
    resumed: start.isResumed,
    ...(gaps.length > 0 && { gaps }),
  };
  return `${JSON.stringify(pageHead).slice(0, -1)},"frames":[${frames.map(({ text }) => text).join(',')}]}`;
}
