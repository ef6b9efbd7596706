/**
 * The permission context: what a session may do, frozen and versioned.
 *
 * Nothing changes one. An update makes the next version; a running call keeps the one it started with.
 */

/** Which tools a session sees: all, the three simple ones, or the REPL alone. */
export const TOOL_MODES = ['normal', 'simple', 'repl'] as const;

/** One of the three tool modes. */
export type ToolMode = (typeof TOOL_MODES)[number];

/** How much a session may do unasked (ARCHITECTURE, "What may run"). */
export const PERMISSION_MODES = ['default', 'acceptEdits', 'plan', 'dontAsk', 'auto', 'bypassPermissions'] as const;

/** One of the six modes. */
export type PermissionMode = (typeof PERMISSION_MODES)[number];

/** Where a rule came from, the weightiest first. */
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

/** One of the eight sources. */
export type RuleSource = (typeof RULE_SOURCES)[number];

/** What a rule does when it matches. */
export type RuleBehavior = 'allow' | 'ask' | 'deny';

/** Rules of one source as people write them: `Tool` or `Tool(spec)`. */
export interface RuleSet {
  readonly allow: readonly string[];
  readonly ask: readonly string[];
  readonly deny: readonly string[];
}

/** What one settings file of a trusted folder adds, as it was when the session began; in wire shape. */
export interface WorkspaceSettings extends RuleSet {
  readonly source: 'projectSettings' | 'localSettings';
  /** Real path of the trusted folder. */
  readonly folder: string;
  /** Absolute. */
  readonly additional_directories: readonly string[];
}

/** What a session may do. Deeply frozen. */
export interface ToolPermissionContext {
  /** 1 at first, one more with each change. */
  readonly version: number;
  readonly mode: PermissionMode;
  /** Only sources that hold rules are present. */
  readonly rules: Readonly<Partial<Record<RuleSource, RuleSet>>>;
  /** Absolute paths beside the session's working directory that count as inside. */
  readonly additionalDirectories: readonly string[];
  /** False where the settings forbid mode `bypassPermissions`. */
  readonly isBypassAvailable: boolean;
  /** The mode that lets most through of those its principal may choose; absent: any. */
  readonly maxMode?: PermissionMode;
  /** True for whoever has nobody to ask: a question becomes a no. */
  readonly shouldAvoidPermissionPrompts: boolean;
}

/** A change to a context, in wire shape (`updates[]`, `suggestions[]`, `updated_permissions[]`). */
export type PermissionUpdate =
  | { readonly type: 'setMode'; readonly mode: PermissionMode }
  | {
      readonly type: 'addRules' | 'removeRules' | 'replaceRules';
      readonly behavior: RuleBehavior;
      readonly rules: readonly string[];
    }
  | { readonly type: 'addDirectories' | 'removeDirectories'; readonly directories: readonly string[] };

/** A permission context as it goes over the wire. */
export interface WirePermissionContext {
  readonly version: number;
  readonly mode: PermissionMode;
  readonly rules: ToolPermissionContext['rules'];
  readonly additional_directories: readonly string[];
  readonly is_bypass_available: boolean;
  readonly max_mode?: PermissionMode;
  readonly avoid_prompts: boolean;
}

/** Turn a context around for the wire. */
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
