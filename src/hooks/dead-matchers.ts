/**
 * Matchers that mean no tool of this server: their author believes in a guard that nobody runs.
 *
 * Errs towards silence: of MCP servers nothing need be known yet, and one known name is enough.
 */
import type { HookSource } from '../../config/settings/hooks.ts';
import { HOOK_EVENTS, type HookEvent } from './hook-event.ts';
import { nameMatcher } from './name-matcher.ts';

/** A matcher of a settings file that no tool has the name for. */
export interface DeadMatcher {
  /** Where it stands: `hooks.PreToolUse.0.matcher`. */
  readonly key: string;
  readonly matcher: string;
}

const TOLD_OF_SESSIONS: readonly HookEvent[] = ['SessionStart', 'SessionEnd'];

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
