/**
 * What a child session may do: at first what its parent may, and never more.
 *
 * The mode that a child begins in is the highest it may have. Allow rules and directories can only be taken from it, ask
 * and deny rules only be added to it; what changes in the parent changes in its running children.
 */
import { GauntletError } from '../base/errors.ts';
import type { PermissionUpdate, RuleBehavior, RuleSet, ToolPermissionContext } from '../wire/permission-context.ts';
import { isBeyond, loweredMode } from './mode-order.ts';

/** The rules that a session has beside those of the settings: those of its last command, and its own. */
export function ownRules({ rules }: ToolPermissionContext): RuleSet {
  const of = (behavior: RuleBehavior) => union(rules.command?.[behavior] ?? [], rules.session?.[behavior] ?? []);
  return { allow: of('allow'), ask: of('ask'), deny: of('deny') };
}

/** The context of a child, which can never go beyond `first`, the mode that it began in. */
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

/** The updates that make a child follow a change of its parent. Rules that the parent no longer asks or denies by stay. */
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
    // Wherever a tool of the child has put them.
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
