/**
 * The hooks of one call: their payloads, and their decisions in the gate.
 *
 * PreToolUse runs before each decision, PermissionRequest before a question. Hooks see every input that may run,
 * including replacements by a person or another hook. They may replace the input once, and once more after a person
 * did; their decision on their own replacement carries over to it.
 */
import { isDeepStrictEqual } from 'node:util';
import { isGauntletError } from '../base/errors.ts';
import type { PermissionDecision } from '../wire/decision.ts';
import type { Invocation, ToolInput } from '../tool/invocation.ts';
import type { LocatePath } from '../tool/located-path.ts';
import type { PermissionUpdate } from '../wire/permission-context.ts';
import type { ToolProgress, ToolUseContext } from '../tool/tool.ts';
import type { HookEvent } from '../hooks/hook-event.ts';
import type { HookOccasion, Hooks } from '../hooks/hooks.ts';
import { mergePermissions, type HooksVerdict } from '../hooks/merge-answers.ts';
import { governingKeys } from '../permissions/rule.ts';
import { type CallOutcome, type Ended, ended, failedOutcome } from './outcome.ts';

/** Services of the session for a call's hooks. */
export interface CallHookServices {
  readonly locate: LocatePath;
  /** Absent if the operator configured none. */
  readonly hooks?: Hooks;
  /**
   * Update the session's permissions; open questions are judged again.
   *
   * @throws {GauntletError} `invalid_request`, `forbidden`, `log_unavailable`
   */
  updatePermissions?(updates: readonly PermissionUpdate[]): Promise<void>;
  /** Reports slow hooks. */
  onProgress?(progress: ToolProgress): void;
}

/**
 * Describe a call for hooks: the fields of the public contract, with the observable input.
 *
 * @param fields Further fields of the event.
 */
export function hookOccasion(
  event: HookEvent,
  invocation: Invocation,
  context: ToolUseContext,
  locate: LocatePath,
  fields: Readonly<Record<string, unknown>> = {},
): HookOccasion {
  const { session, sessionId } = context;
  const { tool, block } = invocation;
  return {
    payload: {
      session_id: sessionId,
      cwd: session.cwd,
      permission_mode: session.permissions.mode,
      hook_event_name: event,
      tool_name: tool.name,
      tool_input: invocation.observable(session),
      tool_use_id: block.id,
      ...(context.parentToolUseId === undefined ? {} : { parent_tool_use_id: context.parentToolUseId }),
      ...fields,
    },
    names: governingKeys(tool),
    call: { invocation, context, locate },
    projectFolder: session.root,
    notify: (level, code, message) => context.notify(level, code, message),
  };
}

/** Answer of hooks about a call: another input, or a decision to be considered. */
export interface HookStep {
  readonly kind: 'step';
  readonly replacement?: ToolInput;
  readonly permission?: HooksVerdict['permission'];
  /** Permission updates of an allow, applied once it holds. */
  readonly updatedPermissions?: HooksVerdict['updatedPermissions'];
}

/** The hooks of one gate. */
export interface GateHooks {
  /** @returns The end of the call if a hook blocks it. */
  beforeDecision(invocation: Invocation): Promise<HookStep | Ended>;
  /** @returns The hooks' answer in place of a person's; an `allow` must still hold in the decision. */
  beforeQuestion(invocation: Invocation, decision: PermissionDecision): Promise<HookStep | Ended>;
  /** Apply the updates of an allow that holds. @returns False if that fails, in which case the allow is ignored. */
  grant(step: HookStep): Promise<boolean>;
  /** Record that a person replaced the input: hooks may replace it again, and have not decided on it. */
  personReplaced(): void;
  /** Distinct texts that hooks add for the model. */
  readonly contexts: ReadonlySet<string>;
}

const NOTHING: HookStep = Object.freeze({ kind: 'step' });

/** Create the hooks for one call's gate; `undefined` if none is set. */
export function gateHooks(context: ToolUseContext, services: CallHookServices): GateHooks | undefined {
  const { hooks } = services;
  if (!hooks?.has('PreToolUse') && !hooks?.has('PermissionRequest')) return undefined;
  const contexts = new Set<string>();
  let carried: HookStep['permission'];
  let mayReplace = true;

  async function ask(
    event: HookEvent,
    invocation: Invocation,
    fields: Readonly<Record<string, unknown>>,
  ): Promise<HookStep | Ended> {
    if (!hooks?.has(event)) return NOTHING;
    const occasion = hookOccasion(event, invocation, context, services.locate, fields);
    const onSlow = (data: { readonly type: 'hook' }) => services.onProgress?.({ data });
    const verdict = await hooks.ask(occasion, { signal: context.signal, onSlow });
    // Hooks that were stopped have given no answer, which must not count as approval.
    context.signal.throwIfAborted();
    for (const text of verdict.additionalContexts) contexts.add(text);
    const { stopReason, permission, updatedInput, updatedPermissions } = verdict;
    if (stopReason !== undefined) return ended(failedOutcome('hook_blocked', stopReason, { endsTurn: stopReason }));
    if (permission?.behavior === 'deny')
      return ended(failedOutcome('hook_blocked', permission.reason ?? `Blocked by a ${event} hook`));
    const replacement = mayReplace ? replacedInput(updatedInput, invocation, context) : undefined;
    return { kind: 'step', permission, updatedPermissions, ...(replacement && { replacement }) };
  }

  function replaces(step: HookStep): HookStep {
    if (!step.replacement) return step;
    mayReplace = false;
    carried = step.permission;
    return step;
  }

  return {
    contexts,
    async beforeDecision(invocation) {
      const step = await ask('PreToolUse', invocation, {});
      if (step.kind === 'end') return step;
      return replaces({ ...step, permission: mergePermissions([{ permission: carried }, step]) });
    },
    async beforeQuestion(invocation, { suggestions }) {
      const step = await ask('PermissionRequest', invocation, { permission_suggestions: suggestions });
      if (step.kind === 'end') return step;
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

/**
 * Derive a replacement of the input from a changed observable copy, without the fields that the tool only derived;
 * `undefined` if nothing changes.
 */
export function replacedInput(
  changed: ToolInput | undefined,
  invocation: Invocation,
  { session }: ToolUseContext,
): ToolInput | undefined {
  if (!changed) return undefined;
  const { input } = invocation;
  const observable = invocation.observable(session);
  const next =
    observable === input
      ? changed
      : Object.fromEntries(
          Object.entries(changed)
            .filter(([key]) => key in input || !(key in observable))
            .map(([key, value]) => [key, isDeepStrictEqual(value, observable[key]) ? input[key] : value]),
        );
  return isDeepStrictEqual(next, input) ? undefined : next;
}

/** Convert texts of hooks to messages of the conversation; `undefined` if there are none. */
export function contextMessages(contexts: Iterable<string>): CallOutcome['newMessages'] {
  const messages = [...contexts].map((content) => ({ role: 'user' as const, content }));
  return messages.length > 0 ? messages : undefined;
}
