/**
 * A hook that is an address: the payload is posted to it, its answer is the body of the reply.
 */
import type { HookSetting } from '../../config/settings/hooks.ts';
import { boundedText } from '../base/cut-text.ts';
import type { HookEnd, HookRun } from './hook-end.ts';

/** Ask an address. Redirects are refused: what is asked is what was set. Never rejects. */
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
    // The error may name the address and what is secret in it; which of the three it was is enough.
    if (signal.aborted) return broken('was stopped with its call');
    return broken(deadline.aborted ? `gave no answer within ${timeoutMs / 1_000} s` : 'could not be reached');
  }
}

function broken(why: string): HookEnd {
  return { kind: 'broken', why };
}
