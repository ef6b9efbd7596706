/**
 * Tells addresses outside of new questions, signed, so that someone who is not connected can answer.
 *
 * No call waits for it: what cannot be delivered after a few tries is given up, and the operator is told.
 */
import { createHmac } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Limits } from '../../config/limits.ts';
import type { PermissionRequestFrame } from '../wire/frames.ts';

/** An address that is told of questions. */
export interface QuestionWebhook {
  readonly url: string;
  /** Signs what is posted. */
  readonly secret: string;
}

/** What the sender needs. */
export interface QuestionWebhookOptions {
  readonly webhooks: readonly QuestionWebhook[];
  readonly limits: Pick<Limits, 'webhookMs' | 'webhookTries' | 'webhookRetryMs' | 'webhooksUnderWay'>;
  /** For the operator; never holds an address, which may be a secret. */
  onProblem(message: string): void;
}

/** Tells of questions. */
export interface QuestionWebhooks {
  /** Tell every address of a question. Returns at once. */
  readonly announce: (sessionId: string, frame: PermissionRequestFrame) => void;
  /** A question is open no more: whoever was not told by now need not be. */
  readonly settle: (requestId: string) => void;
  /** Give up what is under way. */
  close(): void;
}

/** Make the sender; undefined where nobody is to be told. */
export function createQuestionWebhooks(options: QuestionWebhookOptions): QuestionWebhooks | undefined {
  const { webhooks, limits, onProblem } = options;
  if (webhooks.length === 0) return undefined;
  /** Messages under way, each with the question it tells of. */
  const underWay = new Map<AbortController, string>();
  let isClosed = false;

  async function deliver(webhook: QuestionWebhook, body: string, requestId: string, place: number): Promise<void> {
    const ending = new AbortController();
    underWay.set(ending, requestId);
    const problem = await post(webhook, body, limits, ending.signal);
    underWay.delete(ending);
    if (problem !== undefined && !ending.signal.aborted)
      onProblem(`Webhook ${place} was not told of a question: ${problem}`);
  }

  function end(isMeant: (requestId: string) => boolean): void {
    for (const [ending, requestId] of underWay) if (isMeant(requestId)) ending.abort();
  }

  return {
    announce(sessionId, frame) {
      if (isClosed) return;
      const body = JSON.stringify({ ...frame, session_id: sessionId });
      for (const [index, webhook] of webhooks.entries()) {
        if (underWay.size >= limits.webhooksUnderWay)
          onProblem(`Webhook ${index + 1} was not told of a question: too many are under way`);
        else void deliver(webhook, body, frame.request_id, index + 1);
      }
    },
    settle: (requestId) => end((each) => each === requestId),
    close() {
      isClosed = true;
      end(() => true);
    },
  };
}

/** Post, and try again what may yet succeed. @returns Why it was given up, or undefined. Never rejects. */
async function post(
  { url, secret }: QuestionWebhook,
  body: string,
  { webhookTries, webhookRetryMs, webhookMs }: QuestionWebhookOptions['limits'],
  signal: AbortSignal,
): Promise<string | undefined> {
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  const headers = { 'content-type': 'application/json', 'x-gauntlet-signature': signature };
  let problem: string | undefined;
  for (let tries = 0; tries < webhookTries; tries++) {
    try {
      if (tries > 0) await pause(webhookRetryMs * 2 ** (tries - 1), undefined, { signal, ref: false });
      const reply = await fetch(url, {
        method: 'POST',
        headers,
        body,
        // Where a redirect leads was not set by the operator.
        redirect: 'manual',
        signal: AbortSignal.any([signal, AbortSignal.timeout(webhookMs)]),
      });
      await reply.body?.cancel();
      if (reply.ok) return undefined;
      problem = `it answered with status ${reply.status}`;
      if (reply.status < 500 && reply.status !== 429) return problem;
    } catch {
      // The error may name the address; that it could not be reached is enough.
      if (signal.aborted) return 'nobody needs to be told any more';
      problem = 'it could not be reached, or gave no answer in time';
    }
  }
  return problem;
}
