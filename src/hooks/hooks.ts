/**
 * The hooks of this server, which decide within a call or are notified of events.
 *
 * All hooks of one event run concurrently, each with its own limits of time and output.
 */
import type { HookSource } from '../../config/settings/hooks.ts';
import type { Limits } from '../../config/limits.ts';
import { errorMessage } from '../base/errors.ts';
import type { ConditionedCall } from '../permissions/rule-condition.ts';
import { compileHooks, type CompiledHook } from './compile-hooks.ts';
import { answerOf, type HookAnswer } from './hook-answer.ts';
import type { HookEvent, HookPayload } from './hook-event.ts';
import { mergeAnswers, NO_ANSWER, type HooksVerdict } from './merge-answers.ts';
import { type HookRun, runCommandHook, runHttpHook, type RunHookCommand } from './run-hook.ts';

/** Size of one hook's output on both pipes together, or of its answer over HTTP. */
const MAX_OUTPUT_BYTES = 1_024 * 1_024;

/** People are told of hooks that take longer. */
const SLOW_MS = 300;

/** Progress of slow hooks, as the `data` of a frame. */
export interface HookProgress {
  readonly type: 'hook';
  readonly event: HookEvent;
  readonly message: string;
}

/** An event for hooks, with what selects them. */
export interface HookOccasion {
  readonly payload: HookPayload;
  /** Names for matchers: those of a tool, or the source of a session. */
  readonly names: readonly string[];
  /** Call for `if` rules; without it they exclude no hook. */
  readonly call?: ConditionedCall;
  /** Absolute path of the folder in which the session began. */
  readonly projectFolder: string;
  /** Sends a notice to people: warnings of failed hooks, and hooks' own messages. */
  notify(level: 'info' | 'warning', code: string, message: string): void;
}

/** Parameters of waiting for hooks. */
export interface HookAsk {
  /** Ends the hooks, which then count as broken. */
  readonly signal: AbortSignal;
  onSlow(progress: HookProgress): void;
}

/** Dependencies of running hooks. */
export interface HookServices {
  readonly runCommand: RunHookCommand;
  readonly limits: Pick<Limits, 'hookMs'>;
}

/** All hooks of a server. */
export interface Hooks {
  /** True if a hook is set for the event, so that callers prepare nothing otherwise. */
  has(event: HookEvent): boolean;
  /** Run the hooks of the payload's event, and wait for all. @throws {TypeError} If the payload is not JSON. */
  ask(occasion: HookOccasion, ask: HookAsk): Promise<HooksVerdict>;
  /**
   * Run the hooks of the payload's event in the background. Their decisions are ignored; their additional context
   * becomes a notice.
   */
  tell(occasion: HookOccasion): void;
  /** End the hooks in the background. @returns Once they have ended. */
  close(): Promise<void>;
}

/**
 * Create the hooks of this server.
 *
 * @param sources In the order in which their answers are merged.
 * @returns `undefined` if there are none.
 * @throws {GauntletError} `invalid_setting` with the key, the text and what was expected.
 */
export function createHooks(sources: readonly HookSource[], services: HookServices): Hooks | undefined {
  const table = compileHooks(sources);
  if (table.size === 0) return undefined;
  const closing = new AbortController();
  const background = new Set<Promise<unknown>>();

  async function ask(occasion: HookOccasion, { signal, onSlow }: HookAsk): Promise<HooksVerdict> {
    const { hook_event_name: event } = occasion.payload;
    const named = (table.get(event) ?? []).filter(({ matches }) => matches(occasion.names));
    if (named.length === 0) return NO_ANSWER;
    const hooks = await selectByCondition(named, occasion.call);
    if (hooks.length === 0) return NO_ANSWER;

    const payload = JSON.stringify(occasion.payload);
    const stopTimer = notifyIfSlow(event, hooks.length, onSlow);
    const answers = await Promise.all(hooks.map((hook) => run(hook, occasion, payload, signal)));
    stopTimer();
    for (const answer of answers) notifyPeople(answer, occasion, signal);
    return mergeAnswers(answers);
  }

  async function run(
    hook: CompiledHook,
    occasion: HookOccasion,
    payload: string,
    signal: AbortSignal,
  ): Promise<HookAnswer> {
    const { setting } = hook;
    const { limits, runCommand } = services;
    const { cwd, hook_event_name: event } = occasion.payload;
    const bounds: HookRun = {
      payload,
      cwd,
      projectFolder: occasion.projectFolder,
      timeoutMs: setting.timeout === undefined ? limits.hookMs : setting.timeout * 1_000,
      outputBytes: MAX_OUTPUT_BYTES,
      signal,
    };
    const end = setting.type === 'command' ? runCommandHook(setting, bounds, runCommand) : runHttpHook(setting, bounds);
    return answerOf(event, hook, await end);
  }

  return {
    has: (event) => table.has(event),
    ask,
    tell(occasion) {
      const running = ask(occasion, { signal: closing.signal, onSlow: () => undefined })
        .then(({ additionalContexts }) => {
          for (const text of additionalContexts) occasion.notify('info', 'hook_context', text);
        })
        .catch((error: unknown) =>
          occasion.notify('warning', 'hook_failed', `A hook could not be notified: ${errorMessage(error)}`),
        )
        .finally(() => background.delete(running));
      background.add(running);
    },
    async close() {
      closing.abort();
      await Promise.all(background);
    },
  };
}

/** Select the hooks whose `if` holds, in order. */
async function selectByCondition(
  hooks: readonly CompiledHook[],
  call: ConditionedCall | undefined,
): Promise<readonly CompiledHook[]> {
  if (!call || hooks.every(({ condition }) => !condition)) return hooks;
  const isSelected = await Promise.all(
    hooks.map(async ({ condition }) => condition === undefined || (await condition(call))),
  );
  return hooks.filter((_, index) => isSelected[index]);
}

/** Send one progress frame if hooks take long. @returns A function that stops the timer. */
function notifyIfSlow(event: HookEvent, count: number, onSlow: HookAsk['onSlow']): () => void {
  const message = `Waiting for ${count === 1 ? 'a hook' : `${count} hooks`}`;
  const timer = setTimeout(() => onSlow({ type: 'hook', event, message }), SLOW_MS);
  return () => clearTimeout(timer);
}

/** Send messages and warnings to people; a stopped call needs no warnings. */
function notifyPeople({ systemMessage, warning }: HookAnswer, { notify }: HookOccasion, signal: AbortSignal): void {
  if (systemMessage !== undefined) notify('info', 'hook_message', systemMessage);
  if (warning !== undefined && !signal.aborted) notify('warning', 'hook_failed', warning);
}
