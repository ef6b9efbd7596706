/**
 * Tells addresses outside of new questions, signed, so that someone who is not connected can answer.
 *
 * No call waits for it: what cannot be delivered after a few tries is given up, and the operator is told.
 */
import { createHmac } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Limits } from '../../config/limits.ts';
import type { PermissionRequestFrame } from '../contract/frames.ts';

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
  announce(sessionId: string, frame: PermissionRequestFrame): void;
  /** Give up what is under way. */
  close(): void;
}

/** Make the sender; undefined where nobody is to be told. */
export function createQuestionWebhooks(options: QuestionWebhookOptions): QuestionWebhooks | undefined {
  const { webhooks, limits, onProblem } = options;
  if (webhooks.length === 0) return undefined;
  const ending = new AbortController();
  let underWay = 0;

  async function deliver(webhook: QuestionWebhook, body: string, place: number): Promise<void> {
    underWay++;
    try {
      const problem = await post(webhook, body, limits, ending.signal);
      if (problem !== undefined && !ending.signal.aborted)
        onProblem(`Webhook ${place} was not told of a question: ${problem}`);
    } finally {
      underWay--;
    }
  }

  return {
    announce(sessionId, frame) {
      const body = JSON.stringify({ ...frame, session_id: sessionId });
      for (const [index, webhook] of webhooks.entries()) {
        if (underWay >= limits.webhooksUnderWay)
          onProblem(`Webhook ${index + 1} was not told of a question: too many are under way`);
        else void deliver(webhook, body, index + 1);
      }
    },
    close: () => ending.abort(),
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
      if (signal.aborted) return 'the server is shutting down';
      problem = 'it could not be reached, or gave no answer in time';
    }
  }
  return problem;
}
