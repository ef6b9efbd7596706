/**
 * Compiles the hook settings into a table from events to hooks, each with its matcher and condition.
 *
 * Invalid settings stop the server's start, since a guard that silently never runs is worse than none.
 */
import type { HookSetting, HookSource } from '../../config/settings/hooks.ts';
import { errorMessage, GauntletError } from '../base/errors.ts';
import { ruleCondition, type RuleCondition } from '../permissions/rule-condition.ts';
import { HOOK_EVENTS, type HookEvent } from './hook-event.ts';
import { nameMatcher, type NameMatcher } from './name-matcher.ts';

const SESSION_EVENTS: readonly HookEvent[] = ['SessionStart', 'SessionEnd'];

/** A hook that is ready to run. */
export interface CompiledHook {
  /**
   * Position in the settings, `hooks.PreToolUse.0.hooks.1`. Messages use it, since the command may contain a secret.
   */
  readonly key: string;
  readonly setting: HookSetting;
  readonly matches: NameMatcher;
  readonly condition?: RuleCondition;
}

/** All hooks, in the order of the settings. */
export type HookTable = ReadonlyMap<HookEvent, readonly CompiledHook[]>;

/**
 * Compile the hooks of all files; events without hooks are absent.
 *
 * @throws {GauntletError} `invalid_setting` with the key, the text and what was expected.
 */
export function compileHooks(sources: readonly HookSource[]): HookTable {
  const table = new Map<HookEvent, readonly CompiledHook[]>();
  for (const event of HOOK_EVENTS) {
    const hooks = sources.flatMap((source) => compileEvent(source, event));
    if (hooks.length > 0) table.set(event, hooks);
  }
  return table;
}

function compileEvent({ file, hooks }: HookSource, event: HookEvent): readonly CompiledHook[] {
  return (hooks[event] ?? []).flatMap(({ matcher, hooks: settings }, place) => {
    const key = `hooks.${event}.${place}`;
    const matches = withSettingKey(`${key}.matcher`, file, () => nameMatcher(matcher));
    return settings.map((setting, index): CompiledHook => {
      const hookKey = `${key}.hooks.${index}`;
      const { if: rule } = setting;
      if (rule === undefined) return { key: hookKey, setting, matches };
      const condition = withSettingKey(`${hookKey}.if`, file, () => ruleCondition(rule));
      return { key: hookKey, setting, matches, condition };
    });
  });
}

function withSettingKey<Value>(key: string, file: string, compile: () => Value): Value {
  try {
    return compile();
  } catch (error) {
    throw new GauntletError('invalid_setting', `"${key}" in ${file}: ${errorMessage(error)}`, { cause: error });
  }
}

/** A matcher in a settings file that matches no tool. */
export interface DeadMatcher {
  /** Position in the settings: `hooks.PreToolUse.0.matcher`. */
  readonly key: string;
  readonly matcher: string;
}

/** Find matchers that match no tool. @param toolNames Names and aliases of all tools except those of MCP servers. */
export function deadMatchers(sources: readonly HookSource[], toolNames: readonly string[]): readonly DeadMatcher[] {
  return HOOK_EVENTS.filter((event) => !SESSION_EVENTS.includes(event)).flatMap((event) =>
    sources.flatMap(({ hooks }) =>
      (hooks[event] ?? []).flatMap(({ matcher = '' }, place) => {
        const hasMatch = matcher.includes('mcp') || nameMatcher(matcher)(toolNames);
        return hasMatch ? [] : [{ key: `hooks.${event}.${place}.matcher`, matcher }];
      }),
    ),
  );
}
