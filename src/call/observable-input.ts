/**
 * The observable clone: the copy of an input that hooks, rules and people see.
 *
 * It may hold fields the tool derived for their sake; those are taken out again before a changed copy runs.
 */
import { isDeepStrictEqual } from 'node:util';
import type { SessionContext } from '../contract/session-context.ts';
import type { Tool } from '../contract/tool.ts';

type Input = Readonly<Record<string, unknown>>;

/** Clone an input and let the tool add what helps to judge it. The input itself is never changed. */
export function observableInput(tool: Tool, input: Input, session: SessionContext): Input {
  if (!tool.backfillObservableInput) return input;
  const clone = structuredClone(input) as Record<string, unknown>;
  tool.backfillObservableInput(clone, session);
  return clone;
}

/** A changed observable input, without what the tool only put there to be seen. */
function withoutBackfill(changed: Input, original: Input, observable: Input): Input {
  if (observable === original) return changed;
  const own = Object.entries(changed).filter(([key]) => key in original || !(key in observable));
  return Object.fromEntries(
    own.map(([key, value]) => [key, isDeepStrictEqual(value, observable[key]) ? original[key] : value]),
  );
}

/** The input that takes the place of `input`, from a change of its observable clone; undefined when nothing changes. */
export function replacedInput(changed: Input | undefined, input: Input, observable: Input): Input | undefined {
  const next = changed && withoutBackfill(changed, input, observable);
  return next && !isDeepStrictEqual(next, input) ? next : undefined;
}
