/**
 * Notifies configured addresses of new questions, signed, so that a person who is not connected can answer.
 *
 * No call waits for delivery. After a few tries a notification is dropped, and the operator is informed.
 */
import { createHmac } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { PermissionRequestFrame } from '../wire/frames.ts';

/** A try that takes longer has failed. */
const ANSWER_MS = 5_000;

/** Attempts to deliver a question. */
const MAX_TRIES = 4;

/** Pause between the first two tries; it doubles. */
const RETRY_MS = 500;

/** Messages under way at once, each with a socket; the rest is not sent. */
const MAX_UNDER_WAY = 64;

/** An address that is notified of questions. */
export interface QuestionWebhook {
  readonly url: string;
  /** Key of the signature. */
  readonly secret: string;
}

/** Dependencies of the sender. */
export interface QuestionWebhookOptions {
  readonly webhooks: readonly QuestionWebhook[];
  /** Attempts to deliver a question. */
  readonly tries?: number;
  /** A try that takes longer has failed. */
  readonly answerMs?: number;
  /** Pause between the first two tries; it doubles. */
  readonly retryMs?: number;
  /** Messages under way at once; the rest is not sent. */
  readonly maxUnderWay?: number;
  /** Receives problems for the operator; messages never contain an address, which may be a secret. */
  onProblem(message: string): void;
}

/** Sender of notifications. */
export interface QuestionWebhooks {
  /** Notify every address of a question. Returns immediately. */
  readonly announce: (sessionId: string, frame: PermissionRequestFrame) => void;
  /** Stop notifying about a question that is settled. */
  readonly settle: (requestId: string) => void;
  /** Abort all pending deliveries. */
  close(): void;
}

/** Create the sender; undefined without webhooks. */
export function createQuestionWebhooks(options: QuestionWebhookOptions): QuestionWebhooks | undefined {
  const {
    webhooks,
    onProblem,
    tries = MAX_TRIES,
    answerMs = ANSWER_MS,
    retryMs = RETRY_MS,
    maxUnderWay = MAX_UNDER_WAY,
  } = options;
  const pace = { tries, retryMs, answerMs };
  if (webhooks.length === 0) return undefined;
  /** Pending deliveries, each with the id of its question. */
  const underWay = new Map<AbortController, string>();
  let isClosed = false;

  async function deliver(webhook: QuestionWebhook, body: string, requestId: string, place: number): Promise<void> {
    const ending = new AbortController();
    underWay.set(ending, requestId);
    const problem = await post(webhook, body, pace, ending.signal);
    underWay.delete(ending);
    if (problem !== undefined && !ending.signal.aborted)
      onProblem(`Webhook ${place} was not told of a question: ${problem}`);
  }

  function end(isSelected: (requestId: string) => boolean): void {
    for (const [ending, requestId] of underWay) if (isSelected(requestId)) ending.abort();
  }

  return {
    announce(sessionId, frame) {
      if (isClosed) return;
      const body = JSON.stringify({ ...frame, session_id: sessionId });
      for (const [index, webhook] of webhooks.entries()) {
        if (underWay.size >= maxUnderWay)
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

/**
 * Post a notification, retrying after temporary failures.
 *
 * @returns Reason of the failure, or undefined. Never rejects.
 */
async function post(
  { url, secret }: QuestionWebhook,
  body: string,
  { tries, retryMs, answerMs }: { readonly tries: number; readonly retryMs: number; readonly answerMs: number },
  signal: AbortSignal,
): Promise<string | undefined> {
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  const headers = { 'content-type': 'application/json', 'x-gauntlet-signature': signature };
  let problem: string | undefined;
  for (let failures = 0; failures < tries; failures++) {
    try {
      if (failures > 0) await pause(retryMs * 2 ** (failures - 1), undefined, { signal, ref: false });
      const reply = await fetch(url, {
        method: 'POST',
        headers,
        body,
        // The operator did not configure the target of a redirect.
        redirect: 'manual',
        signal: AbortSignal.any([signal, AbortSignal.timeout(answerMs)]),
      });
      await reply.body?.cancel();
      if (reply.ok) return undefined;
      problem = `it answered with status ${reply.status}`;
      if (reply.status < 500 && reply.status !== 429) return problem;
    } catch {
      // The error is dropped because it may contain the address.
      if (signal.aborted) return 'the question is settled';
      problem = 'it could not be reached, or gave no answer in time';
    }
  }
  return problem;
}
