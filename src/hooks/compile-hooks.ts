/**
 * The hook settings become a table: event → hooks, each with what it is about.
 *
 * Whatever cannot be understood stops the start, since a guard nobody runs is worse than none.
 */
import type { HookSetting, HookSource } from '../../config/settings/hooks.ts';
import { errorMessage, GauntletError } from '../base/errors.ts';
import { ruleCondition, type RuleCondition } from '../permissions/rule-condition.ts';
import { HOOK_EVENTS, type HookEvent } from './hook-event.ts';
import { nameMatcher, type NameMatcher } from './name-matcher.ts';

const TOLD_OF_SESSIONS: readonly HookEvent[] = ['SessionStart', 'SessionEnd'];

/** A hook that is ready to run. */
export interface CompiledHook {
  /** Where it stands, `hooks.PreToolUse.0.hooks.1`: what messages call it, since its command may hold a secret. */
  readonly key: string;
  readonly setting: HookSetting;
  readonly matches: NameMatcher;
  readonly condition?: RuleCondition;
}

/** All hooks, in the order in which they are set. */
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
    const matches = named(`${key}.matcher`, file, () => nameMatcher(matcher));
    return settings.map((setting, index): CompiledHook => {
      const hookKey = `${key}.hooks.${index}`;
      const { if: rule } = setting;
      if (rule === undefined) return { key: hookKey, setting, matches };
      const condition = named(`${hookKey}.if`, file, () => ruleCondition(rule));
      return { key: hookKey, setting, matches, condition };
    });
  });
}

function named<Value>(key: string, file: string, compile: () => Value): Value {
  try {
    return compile();
  } catch (error) {
    throw new GauntletError('invalid_setting', `"${key}" in ${file}: ${errorMessage(error)}`, { cause: error });
  }
}

/** A matcher of a settings file that no tool has the name for. */
export interface DeadMatcher {
  /** Where it stands: `hooks.PreToolUse.0.matcher`. */
  readonly key: string;
  readonly matcher: string;
}

/** Find dead matchers. @param toolNames Names and aliases of all tools that are no MCP server's. */
export function deadMatchers(sources: readonly HookSource[], toolNames: readonly string[]): readonly DeadMatcher[] {
  return HOOK_EVENTS.filter((event) => !TOLD_OF_SESSIONS.includes(event)).flatMap((event) =>
    sources.flatMap(({ hooks }) =>
      (hooks[event] ?? []).flatMap(({ matcher = '' }, place) => {
        const isAlive = matcher.includes('mcp') || nameMatcher(matcher)(toolNames);
        return isAlive ? [] : [{ key: `hooks.${event}.${place}.matcher`, matcher }];
      }),
    ),
  );
}
