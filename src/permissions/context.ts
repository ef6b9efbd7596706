/**
 * Creates and updates permission contexts, which are immutable and versioned.
 *
 * All updates of one request make one next version. Rules are checked here, so that every rule in a context parses.
 */
import { isAbsolute, normalize } from 'node:path';
import { GauntletError, isGauntletError } from '../base/errors.ts';
import type {
  PermissionUpdate,
  RuleBehavior,
  RuleSet,
  RuleSource,
  ToolPermissionContext,
  WirePermissionContext,
} from '../wire/permission-context.ts';
import {
  MAX_ADDITIONAL_DIRECTORIES,
  MAX_PERMISSION_RULES,
  PERMISSION_MODES,
  RULE_SOURCES,
} from '../wire/permission-names.ts';
import { isBeyond } from './mode-order.ts';
import { parseRule } from './rule.ts';

/** Settings of the first context. */
export interface PermissionContextSettings {
  readonly mode: ToolPermissionContext['mode'];
  readonly rules?: Readonly<Partial<Record<RuleSource, Partial<RuleSet>>>>;
  /** Absolute paths. */
  readonly additionalDirectories?: readonly string[];
  readonly isBypassAvailable: boolean;
  /** Most permissive mode that may be chosen. */
  readonly maxMode?: ToolPermissionContext['maxMode'];
  readonly shouldAvoidPermissionPrompts?: boolean;
}

/** Sources that a session changes itself: rules of a skill or slash command for its run, and those that people add. */
const OWN_SOURCES: readonly RuleSource[] = ['command', 'session'];

const NO_RULES: RuleSet = Object.freeze({
  allow: Object.freeze([]),
  ask: Object.freeze([]),
  deny: Object.freeze([]),
});

/**
 * Create the first context of a session, version 1, deeply frozen.
 *
 * @throws {GauntletError} `invalid_request` for an invalid rule or directory; `forbidden` for mode `bypassPermissions`
 * if it is not available, and for a mode beyond `maxMode`.
 */
export function createPermissionContext(settings: PermissionContextSettings): ToolPermissionContext {
  const rules: Partial<Record<RuleSource, RuleSet>> = {};
  for (const source of RULE_SOURCES) {
    const given = settings.rules?.[source];
    if (given) rules[source] = checkedRuleSet({ ...NO_RULES, ...given }, source);
  }
  return frozenContext({
    version: 1,
    mode: checkedMode(settings.mode, settings),
    rules,
    additionalDirectories: unique((settings.additionalDirectories ?? []).map(checkedDirectory)),
    isBypassAvailable: settings.isBypassAvailable && !isBeyond('bypassPermissions', settings.maxMode),
    ...(settings.maxMode && { maxMode: settings.maxMode }),
    shouldAvoidPermissionPrompts: settings.shouldAvoidPermissionPrompts ?? false,
  });
}

/**
 * Create the next version by applying `updates` in order.
 *
 * @param source Whose rules change; rules of other sources can be neither removed nor replaced.
 * @returns The same context when there is nothing to do.
 * @throws {GauntletError} `invalid_request` for a rule or directory that cannot be used, and for too many
 *   of them; `forbidden` for an unavailable mode and for removing a rule of another source.
 */
export function applyUpdates(
  context: ToolPermissionContext,
  updates: readonly PermissionUpdate[],
  source: RuleSource = 'session',
): ToolPermissionContext {
  if (updates.length === 0) return context;
  const next = updates.reduce((current, update, place) => {
    const updated = applyUpdate(current, withCheckedRules(update, `updates[${place}]`), source);
    // Checked after each update, so that many large updates are refused before all of them are merged.
    refuseTooMany(updated, source);
    return updated;
  }, context);
  return frozenContext({ ...next, version: context.version + 1 });
}

/** Put a context into the words of the wire. */
export function toWirePermissionContext(context: ToolPermissionContext): WirePermissionContext {
  return {
    version: context.version,
    mode: context.mode,
    rules: context.rules,
    additional_directories: context.additionalDirectories,
    is_bypass_available: context.isBypassAvailable,
    max_mode: context.maxMode,
    avoid_prompts: context.shouldAvoidPermissionPrompts,
  };
}

/**
 * Check the context that a tool returned and make it the next version. A tool may change the mode, directories, and
 * rules of `command` and `session`.
 *
 * @param made Untrusted, since a plugin may have created it; rules of other sources must be identical.
 * @throws {GauntletError} As `applyUpdates`; `forbidden` also for a change of other rules.
 */
export function checkedContext(before: ToolPermissionContext, made: ToolPermissionContext): ToolPermissionContext {
  if (made === before) return before;
  const foreign = RULE_SOURCES.find(
    (source) => !OWN_SOURCES.includes(source) && made.rules[source] !== before.rules[source],
  );
  if (foreign) throw new GauntletError('forbidden', `Cannot change rules of ${foreign}: a tool has only "command"`);
  const rules = { ...before.rules };
  for (const source of OWN_SOURCES) {
    const given = made.rules[source];
    if (given !== before.rules[source]) rules[source] = checkedRuleSet({ ...NO_RULES, ...given }, source);
  }
  const next = {
    ...before,
    version: before.version + 1,
    mode: made.mode === before.mode ? before.mode : checkedMode(made.mode, before),
    rules,
    additionalDirectories: unique(made.additionalDirectories.map(checkedDirectory)),
    shouldAvoidPermissionPrompts: made.shouldAvoidPermissionPrompts,
  };
  for (const source of OWN_SOURCES) refuseTooMany(next, source);
  return frozenContext(next);
}

function refuseTooMany(context: ToolPermissionContext, source: RuleSource): void {
  const { allow, ask, deny } = context.rules[source] ?? NO_RULES;
  const rules = allow.length + ask.length + deny.length;
  const counts = {
    rules: [rules, MAX_PERMISSION_RULES],
    directories: [context.additionalDirectories.length, MAX_ADDITIONAL_DIRECTORIES],
  } as const;
  for (const [what, [count, max]] of Object.entries(counts)) {
    if (count <= max) continue;
    const message = `Cannot keep ${count} ${what}: a context holds at most ${max} of its own. Remove some first`;
    throw new GauntletError('invalid_request', message, { details: { reason: 'too_many' } });
  }
}

function applyUpdate(
  context: ToolPermissionContext,
  update: PermissionUpdate,
  source: RuleSource,
): ToolPermissionContext {
  switch (update.type) {
    case 'setMode':
      return { ...context, mode: checkedMode(update.mode, context) };
    case 'addRules':
      return withRules(context, source, update.behavior, (rules) => [...rules, ...update.rules]);
    case 'replaceRules':
      return withRules(context, source, update.behavior, () => update.rules);
    case 'removeRules': {
      const removed = new Set(update.rules);
      // A person may remove rules that a command added.
      const sources = source === 'session' ? OWN_SOURCES.filter((own) => context.rules[own]) : [source];
      refuseForeignRules(context, sources, update.behavior, removed);
      const kept = (rules: readonly string[]) => rules.filter((rule) => !removed.has(rule));
      return sources.reduce((next, own) => withRules(next, own, update.behavior, kept), context);
    }
    case 'addDirectories':
      return withDirectories(context, [...context.additionalDirectories, ...update.directories.map(checkedDirectory)]);
    case 'removeDirectories': {
      const removed = new Set(update.directories.map(checkedDirectory));
      return withDirectories(
        context,
        context.additionalDirectories.filter((path) => !removed.has(path)),
      );
    }
  }
}

function withRules(
  context: ToolPermissionContext,
  source: RuleSource,
  behavior: RuleBehavior,
  change: (rules: readonly string[]) => readonly string[],
): ToolPermissionContext {
  const old = context.rules[source] ?? NO_RULES;
  const changed = { ...old, [behavior]: unique(change(old[behavior])) };
  return { ...context, rules: { ...context.rules, [source]: changed } };
}

function withDirectories(context: ToolPermissionContext, directories: readonly string[]): ToolPermissionContext {
  return { ...context, additionalDirectories: unique(directories) };
}

/** Refuse to remove a rule of another source: it would stay in force while the person assumes it is gone. */
function refuseForeignRules(
  context: ToolPermissionContext,
  sources: readonly RuleSource[],
  behavior: RuleBehavior,
  removed: ReadonlySet<string>,
): void {
  for (const other of RULE_SOURCES) {
    if (sources.includes(other)) continue;
    const kept = context.rules[other]?.[behavior].find((rule) => removed.has(rule));
    if (kept === undefined || sources.some((source) => context.rules[source]?.[behavior].includes(kept))) continue;
    throw new GauntletError('forbidden', `Cannot remove rule "${kept}": it comes from ${other}. Change it there`);
  }
}

function checkedMode(
  mode: ToolPermissionContext['mode'],
  { isBypassAvailable, maxMode }: Pick<ToolPermissionContext, 'isBypassAvailable' | 'maxMode'>,
): ToolPermissionContext['mode'] {
  if (!PERMISSION_MODES.includes(mode)) {
    const message = `Cannot use mode ${JSON.stringify(mode)}: choose one of ${PERMISSION_MODES.join(', ')}`;
    throw new GauntletError('invalid_request', message, { details: { reason: 'unknown_mode', path: 'mode' } });
  }
  if (maxMode !== undefined && isBeyond(mode, maxMode)) {
    const message = `Cannot use mode "${mode}": "maxMode" of this principal is "${maxMode}". Choose that one or a lower`;
    throw new GauntletError('forbidden', message, { details: { reason: 'max_mode', path: 'mode', max_mode: maxMode } });
  }
  if (mode !== 'bypassPermissions' || isBypassAvailable) return mode;
  throw new GauntletError(
    'forbidden',
    'Cannot use mode "bypassPermissions": the settings forbid it. Choose another mode',
  );
}

function checkedRuleSet(rules: RuleSet, source: RuleSource): RuleSet {
  const checked = (behavior: RuleBehavior): readonly string[] => {
    const key = source === 'session' ? `rules.${behavior}` : `permissions.${behavior}`;
    return unique(checkedRules(rules[behavior], key, source === 'session' ? '' : ` of ${source}`));
  };
  return { allow: checked('allow'), ask: checked('ask'), deny: checked('deny') };
}

function withCheckedRules(update: PermissionUpdate, key: string): PermissionUpdate {
  return 'rules' in update ? { ...update, rules: checkedRules(update.rules, `${key}.rules`) } : update;
}

/** Parse rules. @param key Path of the list, for error messages. */
function checkedRules(texts: readonly string[], key: string, place = ''): readonly string[] {
  return texts.map((text, index) => {
    try {
      return parseRule(text).text;
    } catch (error) {
      if (!isGauntletError(error)) throw error;
      const path = `${key}[${index}]`;
      throw new GauntletError('invalid_request', `"${path}"${place}: ${error.message}`, {
        details: { ...error.details, path },
      });
    }
  });
}

function checkedDirectory(directory: string): string {
  if (!isAbsolute(directory) || /\p{Cc}/u.test(directory)) {
    throw new GauntletError(
      'invalid_request',
      `Cannot add directory ${JSON.stringify(directory)}: give an absolute path`,
    );
  }
  const normal = normalize(directory);
  return normal.length > 1 && normal.endsWith('/') ? normal.slice(0, -1) : normal;
}

function unique(values: readonly string[]): readonly string[] {
  return [...new Set(values)];
}

function frozenContext(context: ToolPermissionContext): ToolPermissionContext {
  for (const set of Object.values(context.rules)) {
    if (Object.isFrozen(set)) continue;
    Object.values(set).forEach((rules) => Object.freeze(rules));
    Object.freeze(set);
  }
  Object.freeze(context.rules);
  Object.freeze(context.additionalDirectories);
  return Object.freeze(context);
}
