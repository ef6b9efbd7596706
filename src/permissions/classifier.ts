/**
 * Mode `auto`: a classifier is consulted before a person, starting while hooks still run.
 *
 * Without a clear answer (none configured, a timeout, an error) the question goes to a person.
 */
import { LRUCache } from 'lru-cache';
import type { RunningTrace } from '../base/tracing.ts';
import type { Invocation } from '../tool/invocation.ts';
import type { SessionContext } from '../tool/session-context.ts';
import type { ToolUseContext } from '../tool/tool.ts';

/** A longer command is put to a person. */
const MAX_TEXT_CHARS = 10_000;

/** Time for which an answer is remembered. */
const ANSWER_MS = 5 * 60_000;

/** Answers that are remembered. */
const MAX_ANSWERS = 500;

/** Answer of a classifier; `ask` means that a person must decide. */
export type Classification = 'allow' | 'ask' | 'deny';

/** A call to be classified. */
export interface ClassifierQuestion {
  readonly toolName: string;
  /** The tool's description of its input (`toAutoClassifierInput`), never empty. */
  readonly text: string;
  readonly cwd: string;
  /** Trace of the call; absent where nothing is traced. */
  readonly trace?: RunningTrace | undefined;
}

/** Classifies calls, for example by a model on a remote address. */
export interface PermissionClassifier {
  /** @throws Any error: the question then goes to a person. */
  classify(question: ClassifierQuestion, signal: AbortSignal): Promise<Classification>;
}

/** A pending or deferred question to a classifier. */
export interface Speculation {
  /** Wait for the answer; a deferred question is sent now. Rejects once cancelled. */
  answer(): Promise<Classification>;
  /** Abort the question because its answer is no longer needed. */
  cancel(): void;
}

/** Wrap a classifier with a cache of recent answers. */
export function rememberingClassifier(classifier: PermissionClassifier): PermissionClassifier {
  const answers = new LRUCache<string, Classification>({ max: MAX_ANSWERS, ttl: ANSWER_MS });
  return {
    async classify(question, signal) {
      if (question.text.length > MAX_TEXT_CHARS) return 'ask';
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
 * For read-only calls the question is deferred until the answer is requested, since they seldom need one.
 *
 * @returns undefined outside mode `auto`, and for a tool that describes nothing to the classifier.
 */
export function speculate(
  classifier: PermissionClassifier,
  invocation: Invocation,
  { session, signal, trace }: Pick<ToolUseContext, 'session' | 'signal' | 'trace'>,
): Speculation | undefined {
  if (session.permissions.mode !== 'auto') return undefined;
  const found = questionAbout(invocation, session);
  if (!found) return undefined;
  const { question, isWorthIt } = found;
  const cancelled = new AbortController();
  let answer: Promise<Classification> | undefined;
  const begin = (): Promise<Classification> => {
    answer ??= Promise.resolve().then(() =>
      classifier.classify({ ...question, trace }, AbortSignal.any([signal, cancelled.signal])),
    );
    // Callers of `answer` receive the failure; without one it has no effect.
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
    // A tool that fails to describe its input is not classified: a person is asked.
    return undefined;
  }
}
