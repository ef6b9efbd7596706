/** Draws calls that did not end well, for tools that have no drawing of their own for it. */
import type { Display } from '../wire/display.ts';

/** Draw a call that was not allowed, or that failed. */
export function drawFailure(title: string, message: string): Display {
  return { title, tone: 'danger', blocks: [{ kind: 'text', text: message }] };
}
