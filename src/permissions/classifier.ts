/**
 * Mode `auto`: a classifier is asked before a person is, and it starts while hooks still run.
 *
 * Anything but a plain answer leaves the question to a person: none configured, too slow, out of order.
 */
import { LRUCache } from 'lru-cache';
import type { Limits } from '../../config/limits.ts';
import type { Invocation } from '../tool/invocation.ts';
import type { SessionContext } from '../tool/session-context.ts';

/** What a classifier says; `ask` is "a person must decide". */
export type Classification = 'allow' | 'ask' | 'deny';

/** A call to be classified. */
export interface ClassifierQuestion {
  readonly toolName: string;
  /** The tool's own words for its input (`toAutoClassifierInput`), never empty. */
  readonly text: string;
  readonly cwd: string;
}

/** Judges calls; a model behind an address, or anything else. */
export interface PermissionClassifier {
  /** @throws Whatever went wrong: the question then goes to a person. */
  classify(question: ClassifierQuestion, signal: AbortSignal): Promise<Classification>;
}

/** One question to a classifier that is, or will be, under way. */
export interface Speculation {
  /** Waits for the answer; begins only now where it was not worth beginning before. Rejects once cancelled. */
  answer(): Promise<Classification>;
  /** Nobody needs the answer any more. */
  cancel(): void;
}

/** A classifier in front of which answers are remembered for a short time. */
export function rememberingClassifier(
  classifier: PermissionClassifier,
  limits: Pick<Limits, 'classifierCacheMs' | 'classifierAnswers' | 'classifierInputChars'>,
): PermissionClassifier {
  const answers = new LRUCache<string, Classification>({
    max: limits.classifierAnswers,
    ttl: limits.classifierCacheMs,
  });
  return {
    async classify(question, signal) {
      if (question.text.length > limits.classifierInputChars) return 'ask';
      const key = JSON.stringify([question.toolName, question.cwd, question.text]);
      const known = answers.get(key);
      if (known) return known;
      const answer = await classifier.classify(question, signal);
      answers.set(key, answer);
      return answer;
    },
  };
}

/**
 * Begin to classify a call.
 *
 * What only reads begins when it is asked for: it seldom needs an answer.
 *
 * @returns undefined outside mode `auto`, and for a tool that gives the classifier nothing to read.
 */
export function speculate(
  classifier: PermissionClassifier,
  invocation: Invocation,
  { session, signal }: { readonly session: SessionContext; readonly signal: AbortSignal },
): Speculation | undefined {
  if (session.permissions.mode !== 'auto') return undefined;
  const found = questionAbout(invocation, session);
  if (!found) return undefined;
  const { question, isWorthIt } = found;
  const cancelled = new AbortController();
  let answer: Promise<Classification> | undefined;
  const begin = (): Promise<Classification> => {
    answer ??= Promise.resolve().then(() => classifier.classify(question, AbortSignal.any([signal, cancelled.signal])));
    // Whoever waits hears of it; where nobody does, the failure is nobody's.
    answer.catch(() => undefined);
    return answer;
  };
  if (isWorthIt) void begin();
  return { answer: begin, cancel: () => cancelled.abort() };
}

function questionAbout(invocation: Invocation, { cwd }: SessionContext) {
  const { tool, input } = invocation;
  try {
    const text = tool.toAutoClassifierInput(input);
    if (text === '') return undefined;
    return {
      question: { toolName: tool.name, text, cwd },
      isWorthIt: !invocation.isReadOnly && !invocation.touchesOnlySession,
    };
  } catch {
    // A tool that cannot word its input is not classified: a person is asked.
    return undefined;
  }
}
