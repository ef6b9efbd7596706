/**
 * Runs an HTTP hook: the payload is posted to its address, the body of the response is its answer.
 */
import type { HookSetting } from '../../config/settings/hooks.ts';
import { boundedText } from '../base/cut-text.ts';
import type { HookEnd, HookRun } from './hook-end.ts';

/** Run an HTTP hook. Redirects are rejected, since only the configured address is trusted. Never rejects. */
export async function runHttpHook(
  { url, headers }: Extract<HookSetting, { type: 'http' }>,
  { payload, timeoutMs, outputBytes, signal }: HookRun,
): Promise<HookEnd> {
  const deadline = AbortSignal.timeout(Math.ceil(timeoutMs));
  try {
    const reply = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: payload,
      redirect: 'manual',
      signal: AbortSignal.any([signal, deadline]),
    });
    const body = await boundedText(reply, outputBytes);
    if (body === undefined) return broken(`answered with more than ${outputBytes} bytes`);
    if (!reply.ok) return broken(`answered with status ${reply.status}`);
    return { kind: 'ended', exitCode: 0, stdout: body, stderr: '' };
  } catch {
    // The error may contain the address and secrets in it, so only the kind of failure is reported.
    if (signal.aborted) return broken('was stopped with its call');
    return broken(deadline.aborted ? `gave no answer within ${timeoutMs / 1_000} s` : 'could not be reached');
  }
}

function broken(why: string): HookEnd {
  return { kind: 'broken', why };
}
