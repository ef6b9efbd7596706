/**
 * Permissions of child sessions: initially those of the parent, and never more.
 *
 * The initial mode of a child is its upper bound. Allow rules and directories can only be removed, ask and deny rules
 * only be added. Changes in the parent apply to its running children.
 */
import { GauntletError } from '../base/errors.ts';
import type { PermissionUpdate, RuleBehavior, RuleSet, ToolPermissionContext } from '../wire/permission-context.ts';
import type { PermissionBound } from '../tool/permission-bound.ts';
import { isBeyond, loweredMode } from './mode-order.ts';

/** Return the rules that a session has besides those of the settings: of its last command, and its own. */
export function ownRules({ rules }: ToolPermissionContext): RuleSet {
  const of = (behavior: RuleBehavior) => union(rules.command?.[behavior] ?? [], rules.session?.[behavior] ?? []);
  return { allow: of('allow'), ask: of('ask'), deny: of('deny') };
}

/**
 * Return what a session may do now, as a bound of what is begun later in its name.
 *
 * @param tools The only tools of the session, if it does not have all.
 */
export function permissionBound(permissions: ToolPermissionContext, tools?: readonly string[]): PermissionBound {
  const { mode, additionalDirectories } = permissions;
  return { mode, rules: ownRules(permissions), additionalDirectories, ...(tools && { tools }) };
}

/** Return the narrower of a session's permissions and an earlier bound, with the tools of that bound. */
export function narrowerBound(
  permissions: ToolPermissionContext,
  atMost: PermissionBound | undefined,
): PermissionBound {
  const now = permissionBound(permissions);
  if (!atMost) return now;
  const both = (some: readonly string[], others: readonly string[]) => some.filter((each) => others.includes(each));
  return {
    mode: loweredMode(now.mode, atMost.mode),
    rules: {
      allow: both(now.rules.allow, atMost.rules.allow),
      ask: union(now.rules.ask, atMost.rules.ask),
      deny: union(now.rules.deny, atMost.rules.deny),
    },
    additionalDirectories: both(now.additionalDirectories, atMost.additionalDirectories),
    ...(atMost.tools && { tools: atMost.tools }),
  };
}

/** Derive the context of a child. @param first Mode the child began with, and its upper bound. */
export function childPermissions(
  permissions: ToolPermissionContext,
  first: ToolPermissionContext['mode'],
): ToolPermissionContext {
  const maxMode = loweredMode(first, permissions.maxMode);
  const isBypassAvailable = permissions.isBypassAvailable && !isBeyond('bypassPermissions', maxMode);
  return Object.freeze({ ...permissions, mode: loweredMode(permissions.mode, maxMode), maxMode, isBypassAvailable });
}

/** Refuse a change of a child's permissions that would allow more. @throws {GauntletError} `forbidden` */
export function refuseWidening(before: ToolPermissionContext, after: ToolPermissionContext): void {
  if (isBeyond(after.mode, before.mode)) throw widened(`mode "${after.mode}" lets more through`);
  const [had, has] = [ownRules(before), ownRules(after)];
  const allowed = missing(has.allow, had.allow);
  if (allowed !== undefined) throw widened(`rule "${allowed}" would allow more`);
  for (const behavior of ['ask', 'deny'] as const) {
    const lifted = missing(had[behavior], has[behavior]);
    if (lifted !== undefined) throw widened(`rule "${lifted}" would no longer ${behavior}`);
  }
  const directory = missing(after.additionalDirectories, before.additionalDirectories);
  if (directory !== undefined) throw widened(`folder "${directory}" would be added`);
}

/**
 * Compute the updates that apply a change of the parent to a child. Ask and deny rules removed from the parent stay in
 * the child.
 */
export function updatesAfterParent(
  child: ToolPermissionContext,
  before: ToolPermissionContext,
  after: ToolPermissionContext,
): readonly PermissionUpdate[] {
  const [had, has] = [ownRules(before), ownRules(after)];
  const added = without(after.additionalDirectories, before.additionalDirectories);
  const removed = without(before.additionalDirectories, after.additionalDirectories);
  return [
    { type: 'setMode', mode: loweredMode(child.mode, after.mode) },
    // Removed from every source of the child, since a tool of the child may have copied them.
    { type: 'removeRules', behavior: 'allow', rules: without(had.allow, has.allow) },
    { type: 'addRules', behavior: 'allow', rules: without(has.allow, had.allow) },
    { type: 'addRules', behavior: 'ask', rules: has.ask },
    { type: 'addRules', behavior: 'deny', rules: has.deny },
    { type: 'addDirectories', directories: added },
    { type: 'removeDirectories', directories: removed },
  ];
}

function widened(what: string): GauntletError {
  const message = `Cannot change this session so: ${what}, and a child session never may more than its parent. Change the parent`;
  return new GauntletError('forbidden', message, { details: { reason: 'child_session' } });
}

function missing(of: readonly string[], among: readonly string[]): string | undefined {
  return without(of, among)[0];
}

function without(some: readonly string[], others: readonly string[]): readonly string[] {
  const known = new Set(others);
  return some.filter((each) => !known.has(each));
}

function union(some: readonly string[], others: readonly string[]): readonly string[] {
  return [...new Set([...some, ...others])];
}
