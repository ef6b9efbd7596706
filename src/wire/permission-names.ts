/**
 * The names of tool modes, permission modes and rule sources, as the wire spells them, and the bounds of rule lists.
 */

/** Tools that a session sees: all, the three simple ones, or the REPL alone. */
export const TOOL_MODES = ['normal', 'simple', 'repl'] as const;

/** Permission modes: how much a session may do without a question (ARCHITECTURE, "What may run"). */
export const PERMISSION_MODES = ['default', 'acceptEdits', 'plan', 'dontAsk', 'auto', 'bypassPermissions'] as const;

/** Sources that a rule may come from, the weightiest first. */
export const RULE_SOURCES = [
  'policySettings',
  'userSettings',
  'projectSettings',
  'localSettings',
  'flagSettings',
  'cliArg',
  'command',
  'session',
] as const;

/** Effects of a rule that matches, and outcomes of a decision. */
export const RULE_BEHAVIORS = ['allow', 'ask', 'deny'] as const;

/** Rules that a context holds of one source, and rules in one list of a request. With this many, a decision takes less than 1 ms. */
export const MAX_PERMISSION_RULES = 10_000;

/** Working directories beside the session's own: each path of each call is compared with all of them. */
export const MAX_ADDITIONAL_DIRECTORIES = 256;
