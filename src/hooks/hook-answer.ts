/**
 * Interprets a hook's outcome as an answer, with the failure policy of `docs/decisions/0018-broken-hooks-deny.md`.
 */
import type { PermissionUpdate } from '../wire/permission-context.ts';
import type { CompiledHook } from './compile-hooks.ts';
import type { HookEnd } from './run-hook.ts';
import type { HookEvent } from './hook-event.ts';
import { type HookOutput, readHookOutput } from './hook-output.ts';

/** Answer of one hook. */
export interface HookAnswer {
  readonly permission?: { readonly behavior: 'allow' | 'ask' | 'deny'; readonly reason?: string };
  readonly updatedInput?: Readonly<Record<string, unknown>>;
  /** Updates of the session's permissions, with an `allow` of a PermissionRequest hook. */
  readonly updatedPermissions?: readonly PermissionUpdate[];
  /** Text for the model, beside the result. */
  readonly additionalContext?: string;
  /** Replaces the result's content. */
  readonly updatedToolOutput?: unknown;
  /** As `updatedToolOutput`, only for results of MCP tools. */
  readonly updatedMcpOutput?: unknown;
  /** Objection of a hook after the call, for the model, in the result. */
  readonly feedback?: string;
  /** Ends the turn with this reason. */
  readonly stopReason?: string;
  /** Reason for withholding a result that a broken hook could not approve. */
  readonly withheld?: string;
  /** Message for people. */
  readonly systemMessage?: string;
  /** Description of a failure, for people. */
  readonly warning?: string;
}

/** A reason or context that a hook adds for the model or for people. */
const MAX_TEXT_CHARS = 10_000;

/** Exit code of a hook that objects, with the reason on standard error. */
const BLOCKING_EXIT_CODE = 2;

/** Interpret the outcome of one hook. */
export function answerOf(event: HookEvent, hook: CompiledHook, end: HookEnd): HookAnswer {
  const cut = (text: string) => text.trim().slice(0, MAX_TEXT_CHARS);
  if (end.kind === 'broken') return brokenAnswer(event, hook, end.why);
  if (end.exitCode === BLOCKING_EXIT_CODE) return objection(event, cut(end.stderr) || `Blocked by a ${event} hook`);
  if (end.exitCode !== 0) {
    const firstLine = cut(end.stderr).split('\n', 1)[0] ?? '';
    const why = `ended with exit code ${end.exitCode}${firstLine === '' ? '' : `: ${firstLine}`}`;
    return hook.setting.onFailure === 'block' ? blockedAnswer(event, hook, why) : { warning: sentence(hook, why) };
  }
  const read = readHookOutput(end.stdout, event);
  return 'problem' in read ? brokenAnswer(event, hook, read.problem) : answerFromOutput(event, read.output, cut);
}

/**
 * Answer for a hook that gave none: a PreToolUse hook blocks unless its setting says otherwise, since it may be a
 * guard.
 */
function brokenAnswer(event: HookEvent, hook: CompiledHook, why: string): HookAnswer {
  const { onFailure = event === 'PreToolUse' ? 'block' : 'continue' } = hook.setting;
  return onFailure === 'block' ? blockedAnswer(event, hook, why) : { warning: sentence(hook, why) };
}

function blockedAnswer(event: HookEvent, hook: CompiledHook, why: string): HookAnswer {
  const warning = sentence(hook, why);
  switch (event) {
    case 'PreToolUse':
    case 'PermissionRequest':
      return { warning, permission: { behavior: 'deny', reason: `Not run: a ${event} hook of this server ${why}` } };
    case 'PostToolUse':
    case 'PostToolUseFailure':
      return { warning, withheld: `The call ran, but its result is withheld: a ${event} hook of this server ${why}` };
    default:
      return { warning };
  }
}

function objection(event: HookEvent, reason: string): HookAnswer {
  switch (event) {
    case 'PreToolUse':
    case 'PermissionRequest':
      return { permission: { behavior: 'deny', reason } };
    case 'PostToolUse':
    case 'PostToolUseFailure':
      return { feedback: reason };
    default:
      return { warning: reason };
  }
}

function answerFromOutput(event: HookEvent, output: HookOutput, cut: (text: string) => string): HookAnswer {
  const { additionalContext, updatedInput, updatedToolOutput, updatedMCPToolOutput } = output.hookSpecificOutput ?? {};
  const stopReason = output.continue === false ? output.stopReason || `A ${event} hook ended the turn` : undefined;
  return {
    ...readDecision(event, output, cut),
    ...(updatedInput && { updatedInput }),
    ...(additionalContext && { additionalContext: cut(additionalContext) }),
    ...(updatedToolOutput !== undefined && { updatedToolOutput }),
    ...(updatedMCPToolOutput !== undefined && { updatedMcpOutput: updatedMCPToolOutput }),
    ...(stopReason !== undefined && { stopReason: cut(stopReason) }),
    ...(output.systemMessage && { systemMessage: cut(output.systemMessage) }),
  };
}

/** Read the decision. The contract has three places for it; the newest form takes precedence. */
function readDecision(event: HookEvent, output: HookOutput, cut: (text: string) => string): HookAnswer {
  const { decision, permissionDecision, permissionDecisionReason } = output.hookSpecificOutput ?? {};
  const blocked = output.decision === 'block' ? cut(output.reason ?? '') || `Blocked by a ${event} hook` : undefined;
  if (event === 'PermissionRequest' && decision) {
    const { behavior, message, updatedInput, updatedPermissions, interrupt } = decision;
    const reason = message ? { reason: cut(message) } : {};
    const stop = behavior === 'deny' && interrupt ? { stopReason: cut(message ?? 'A hook ended the turn') } : {};
    const added = behavior === 'allow' && updatedPermissions ? { updatedPermissions } : {};
    return { permission: { behavior, ...reason }, ...(updatedInput && { updatedInput }), ...added, ...stop };
  }
  if (event === 'PreToolUse' && permissionDecision) {
    if (permissionDecision === 'defer') return {};
    const reason = permissionDecisionReason ? { reason: cut(permissionDecisionReason) } : {};
    return { permission: { behavior: permissionDecision, ...reason } };
  }
  if (blocked !== undefined) return objection(event, blocked);
  if (event === 'PreToolUse' && output.decision === 'approve') {
    return { permission: { behavior: 'allow', ...(output.reason ? { reason: cut(output.reason) } : {}) } };
  }
  return {};
}

function sentence({ key }: CompiledHook, why: string): string {
  return `Hook "${key}" ${why}`;
}
