/**
 * The hooks of this server: asked within a call, told of what they cannot hold up.
 *
 * All hooks of one event run side by side, each within its own time and output.
 */
import type { HookSource } from '../../config/settings/hooks.ts';
import type { Limits } from '../../config/limits.ts';
import { errorMessage } from '../base/errors.ts';
import type { ConditionedCall } from '../permissions/rule-condition.ts';
import { runCommandHook, type RunHookCommand } from './command-hook.ts';
import { compileHooks, type CompiledHook } from './compile-hooks.ts';
import { answerOf, type HookAnswer } from './hook-answer.ts';
import type { HookRun } from './hook-end.ts';
import type { HookEvent, HookPayload } from './hook-event.ts';
import { runHttpHook } from './http-hook.ts';
import { mergeAnswers, SILENCE, type HooksVerdict } from './merge-answers.ts';

/** Progress of hooks that take their time, as the `data` of a frame. */
export interface HookProgress {
  readonly type: 'hook';
  readonly event: HookEvent;
  readonly message: string;
}

/** Something that hooks are asked about or told. */
export interface HookOccasion {
  readonly payload: HookPayload;
  /** What matchers look at: names of a tool, or the source of a session. */
  readonly names: readonly string[];
  /** What `if` rules look at; without a call they leave nothing out. */
  readonly call?: ConditionedCall;
  /** Absolute; where the session began. */
  readonly projectFolder: string;
  /** For people: warnings of hooks that failed, and messages of hooks that have one. */
  notify(level: 'info' | 'warning', code: string, message: string): void;
}

/** What one ask needs beside its occasion. */
export interface HookAsk {
  /** Ends the hooks; what they would have said is then not known. */
  readonly signal: AbortSignal;
  onSlow(progress: HookProgress): void;
}

/** What hooks run with. */
export interface HookServices {
  readonly runCommand: RunHookCommand;
  readonly limits: Pick<Limits, 'hookMs' | 'hookOutputBytes' | 'hookProgressMs' | 'hookTextChars' | 'jsonDepth'>;
}

/** All hooks of a server. */
export interface Hooks {
  /** Whether any hook waits for this event; where none does, nothing need be prepared. */
  has(event: HookEvent): boolean;
  /** Ask the hooks of the payload's event, and wait for all. @throws {TypeError} If the payload is not JSON. */
  ask(occasion: HookOccasion, ask: HookAsk): Promise<HooksVerdict>;
  /** Tell the hooks of the payload's event; nobody waits for them, what they decide counts for nothing, what they add is a notice. */
  tell(occasion: HookOccasion): void;
  /** End the hooks that were only told. */
  close(): Promise<void>;
}

/**
 * Make the hooks of this server.
 *
 * @param sources In the order in which they are weighed.
 * @returns undefined when there are none.
 * @throws {GauntletError} `invalid_setting` with the key, the text and what was expected.
 */
export function createHooks(sources: readonly HookSource[], services: HookServices): Hooks | undefined {
  const table = compileHooks(sources);
  if (table.size === 0) return undefined;
  const closing = new AbortController();
  const told = new Set<Promise<unknown>>();

  async function ask(occasion: HookOccasion, { signal, onSlow }: HookAsk): Promise<HooksVerdict> {
    const { hook_event_name: event } = occasion.payload;
    const named = (table.get(event) ?? []).filter(({ matches }) => matches(occasion.names));
    if (named.length === 0) return SILENCE;
    const hooks = await meantBy(named, occasion.call);
    if (hooks.length === 0) return SILENCE;

    const payload = JSON.stringify(occasion.payload);
    const stopTelling = tellIfSlow(event, hooks.length, services.limits.hookProgressMs, onSlow);
    const answers = await Promise.all(hooks.map((hook) => run(hook, occasion, payload, signal)));
    stopTelling();
    for (const answer of answers) pass(answer, occasion, signal);
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
      outputBytes: limits.hookOutputBytes,
      signal,
    };
    const end = setting.type === 'command' ? runCommandHook(setting, bounds, runCommand) : runHttpHook(setting, bounds);
    return answerOf(event, hook, await end, limits);
  }

  return {
    has: (event) => table.has(event),
    ask,
    tell(occasion) {
      const telling = ask(occasion, { signal: closing.signal, onSlow: () => undefined })
        .then(({ additionalContexts }) => {
          for (const text of additionalContexts) occasion.notify('info', 'hook_context', text);
        })
        .catch((error: unknown) =>
          occasion.notify('warning', 'hook_failed', `A hook was not told: ${errorMessage(error)}`),
        )
        .finally(() => told.delete(telling));
      told.add(telling);
    },
    async close() {
      closing.abort();
      await Promise.all(told);
    },
  };
}

/** Those whose `if` holds, still in order. */
async function meantBy(
  hooks: readonly CompiledHook[],
  call: ConditionedCall | undefined,
): Promise<readonly CompiledHook[]> {
  if (!call || hooks.every(({ condition }) => !condition)) return hooks;
  const isMeant = await Promise.all(
    hooks.map(async ({ condition }) => condition === undefined || (await condition(call))),
  );
  return hooks.filter((_, index) => isMeant[index]);
}

/** One frame when hooks take long. @returns Ends the wait. */
function tellIfSlow(event: HookEvent, count: number, afterMs: number, onSlow: HookAsk['onSlow']): () => void {
  const message = `Waiting for ${count === 1 ? 'a hook' : `${count} hooks`}`;
  const timer = setTimeout(() => onSlow({ type: 'hook', event, message }), afterMs);
  return () => clearTimeout(timer);
}

/** What is for people goes to people; of a call that was stopped they know already. */
function pass({ systemMessage, warning }: HookAnswer, { notify }: HookOccasion, signal: AbortSignal): void {
  if (systemMessage !== undefined) notify('info', 'hook_message', systemMessage);
  if (warning !== undefined && !signal.aborted) notify('warning', 'hook_failed', warning);
}
