/**
 * Reads the end of a hook as an answer: the failure policy of `docs/decisions/0018-broken-hooks-deny.md`.
 */
import type { PermissionUpdate } from '../wire/permission-context.ts';
import type { CompiledHook } from './compile-hooks.ts';
import type { HookEnd } from './hook-end.ts';
import type { HookEvent } from './hook-event.ts';
import { type HookOutput, readHookOutput } from './hook-output.ts';

/** What one hook says. */
export interface HookAnswer {
  readonly permission?: { readonly behavior: 'allow' | 'ask' | 'deny'; readonly reason?: string };
  readonly updatedInput?: Readonly<Record<string, unknown>>;
  /** Goes with an `allow` of a PermissionRequest hook: what the session may do from then on. */
  readonly updatedPermissions?: readonly PermissionUpdate[];
  /** For the model, beside the result. */
  readonly additionalContext?: string;
  /** Takes the place of the result's content. */
  readonly updatedToolOutput?: unknown;
  /** The same, for a result of an MCP tool and no other. */
  readonly updatedMcpOutput?: unknown;
  /** For the model, in the result: what a hook objects to after the fact. */
  readonly feedback?: string;
  /** The turn ends, for this reason. */
  readonly stopReason?: string;
  /** A result that a broken guard could not clear is withheld, for this reason. */
  readonly withheld?: string;
  /** For people. */
  readonly systemMessage?: string;
  /** What went wrong, for people. */
  readonly warning?: string;
}

/** How text is bounded. */
export interface AnswerLimits {
  readonly jsonDepth: number;
  readonly hookTextChars: number;
}

/** Exit code of a hook that objects, with its reason on standard error. */
const OBJECTS = 2;

/** Read what a hook's end says. */
export function answerOf(event: HookEvent, hook: CompiledHook, end: HookEnd, limits: AnswerLimits): HookAnswer {
  const cut = (text: string) => text.trim().slice(0, limits.hookTextChars);
  if (end.kind === 'broken') return brokenAnswer(event, hook, end.why);
  if (end.exitCode === OBJECTS) return objection(event, cut(end.stderr) || `Blocked by a ${event} hook`);
  if (end.exitCode !== 0) {
    const said = cut(end.stderr).split('\n', 1)[0] ?? '';
    const why = `ended with exit code ${end.exitCode}${said === '' ? '' : `: ${said}`}`;
    return hook.setting.onFailure === 'block' ? heldBack(event, hook, why) : { warning: sentence(hook, why) };
  }
  const read = readHookOutput(end.stdout, event, limits);
  return 'garbage' in read ? brokenAnswer(event, hook, read.garbage) : spoken(event, read.output, cut);
}

/** Nobody knows what it would have said: a hook that is asked first is a guard unless its setting says otherwise. */
function brokenAnswer(event: HookEvent, hook: CompiledHook, why: string): HookAnswer {
  const { onFailure = event === 'PreToolUse' ? 'block' : 'continue' } = hook.setting;
  return onFailure === 'block' ? heldBack(event, hook, why) : { warning: sentence(hook, why) };
}

function heldBack(event: HookEvent, hook: CompiledHook, why: string): HookAnswer {
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

function spoken(event: HookEvent, output: HookOutput, cut: (text: string) => string): HookAnswer {
  const { additionalContext, updatedInput, updatedToolOutput, updatedMCPToolOutput } = output.hookSpecificOutput ?? {};
  const stopReason = output.continue === false ? output.stopReason || `A ${event} hook ended the turn` : undefined;
  return {
    ...decided(event, output, cut),
    ...(updatedInput && { updatedInput }),
    ...(additionalContext && { additionalContext: cut(additionalContext) }),
    ...(updatedToolOutput !== undefined && { updatedToolOutput }),
    ...(updatedMCPToolOutput !== undefined && { updatedMcpOutput: updatedMCPToolOutput }),
    ...(stopReason !== undefined && { stopReason: cut(stopReason) }),
    ...(output.systemMessage && { systemMessage: cut(output.systemMessage) }),
  };
}

/** Where the contract lets a hook decide, it does so in three places; the newest word counts. */
function decided(event: HookEvent, output: HookOutput, cut: (text: string) => string): HookAnswer {
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
