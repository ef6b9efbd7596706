/**
 * The hooks of one gate, over its rounds: PreToolUse before each decision, PermissionRequest before a person.
 *
 * Hooks see every input that may run, also one that a person or another hook put in the place of the
 * first. They replace it once, and once more after a person did; what they said of their own input
 * goes on with it.
 */
import { isGauntletError } from '../contract/errors.ts';
import type { PermissionDecision } from '../contract/decision.ts';
import type { ToolUseContext } from '../contract/tool.ts';
import type { HookEvent } from '../hooks/hook-event.ts';
import { mergePermissions, type HooksVerdict } from '../hooks/merge-answers.ts';
import { type CallHookServices, hookOccasion } from './hook-occasion.ts';
import { replacedInput } from './observable-input.ts';
import { type CallOutcome, failedOutcome } from './outcome.ts';
import type { ParsedCall } from './parse.ts';

/** What hooks make of a call: another input, or a word that the decision weighs. */
export interface HookStep {
  readonly replacement?: ParsedCall['input'];
  readonly permission?: HooksVerdict['permission'];
  /** What goes with a yes, once it holds. */
  readonly updatedPermissions?: HooksVerdict['updatedPermissions'];
}

/** The hooks of one gate. */
export interface GateHooks {
  /** @returns An outcome when a hook blocks the call. */
  beforeDecision(call: ParsedCall): Promise<HookStep | CallOutcome>;
  /** @returns What hooks answer in a person's place; a plain `allow` still has to hold in the decision. */
  beforeQuestion(call: ParsedCall, decision: PermissionDecision): Promise<HookStep | CallOutcome>;
  /** A yes holds: what goes with it is made so. @returns False where it cannot be, and then the yes counts for nothing. */
  grant(step: HookStep): Promise<boolean>;
  /** A person put an input in place: hooks may replace it again, and have said nothing of it. */
  personReplaced(): void;
  /** What hooks add for the model, each once. */
  readonly contexts: ReadonlySet<string>;
}

const NOTHING: HookStep = Object.freeze({});

/** The hooks for one call's way through its gate; undefined where no hook can stand in it. */
export function gateHooks(context: ToolUseContext, services: CallHookServices): GateHooks | undefined {
  const { hooks } = services;
  if (!hooks?.has('PreToolUse') && !hooks?.has('PermissionRequest')) return undefined;
  const contexts = new Set<string>();
  let carried: HookStep['permission'];
  let mayReplace = true;

  async function ask(
    event: HookEvent,
    call: ParsedCall,
    fields: Readonly<Record<string, unknown>>,
  ): Promise<HookStep | CallOutcome> {
    if (!hooks?.has(event)) return NOTHING;
    const occasion = hookOccasion(event, call, context, services.locate, fields);
    const onSlow = (data: { readonly type: 'hook' }) => services.onProgress?.({ data });
    const verdict = await hooks.ask(occasion, { signal: context.signal, onSlow });
    // Hooks that were stopped have not spoken, and what they would have said must not be missed.
    context.signal.throwIfAborted();
    for (const text of verdict.additionalContexts) contexts.add(text);
    const { stopReason, permission, updatedInput, updatedPermissions } = verdict;
    if (stopReason !== undefined) return failedOutcome('hook_blocked', stopReason, { endsTurn: stopReason });
    if (permission?.behavior === 'deny')
      return failedOutcome('hook_blocked', permission.reason ?? `Blocked by a ${event} hook`);
    const replacement = mayReplace ? replacedInput(updatedInput, call.input, occasion.call.observable) : undefined;
    return { permission, updatedPermissions, ...(replacement && { replacement }) };
  }

  function replaces(step: HookStep): HookStep {
    if (!step.replacement) return step;
    mayReplace = false;
    carried = step.permission;
    return step;
  }

  return {
    contexts,
    async beforeDecision(call) {
      const step = await ask('PreToolUse', call, {});
      if ('status' in step) return step;
      return replaces({ ...step, permission: mergePermissions([{ permission: carried }, step]) });
    },
    async beforeQuestion(call, { suggestions }) {
      const step = await ask('PermissionRequest', call, { permission_suggestions: suggestions });
      if ('status' in step) return step;
      return step.permission?.behavior === 'allow' ? replaces(step) : NOTHING;
    },
    async grant({ updatedPermissions: updates = [] }) {
      if (updates.length === 0) return true;
      try {
        await services.updatePermissions?.(updates);
        return true;
      } catch (error) {
        if (!isGauntletError(error)) throw error;
        const message = `A PermissionRequest hook's yes does not count, since what goes with it cannot be: ${error.message}`;
        context.notify('warning', 'hook_failed', message);
        return false;
      }
    },
    personReplaced() {
      mayReplace = true;
      carried = undefined;
    },
  };
}

/** What hooks add, as messages to the conversation; undefined where they add nothing. */
export function contextMessages(contexts: Iterable<string>): CallOutcome['newMessages'] {
  const messages = [...contexts].map((content) => ({ role: 'user' as const, content }));
  return messages.length > 0 ? messages : undefined;
}
