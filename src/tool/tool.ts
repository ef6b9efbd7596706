/**
 * The contract of a tool, a structural type. Any object that satisfies it is a tool, whether built in, from MCP, from a
 * plugin, or created at run time.
 */
import type * as z from 'zod';
import type { AssistantMessage, NewMessage, SpilledText, ToolResultBlock } from '../wire/blocks.ts';
import type { JsonObject } from '../base/json.ts';
import type { RunningTrace } from '../base/tracing.ts';
import type { DecisionPart, PermissionDecision, PermissionResult } from '../wire/decision.ts';
import type { Display } from '../wire/display.ts';
import type { ChangeLog } from '../wire/file-change.ts';
import type { OpenChild, RunInnerCall } from './inner-call.ts';
import type { LocatedPath, PathUse } from './located-path.ts';
import type { AskMidCall } from './mid-call-question.ts';
import type { RuleBehavior, ToolPermissionContext } from '../wire/permission-context.ts';
import type { ContextModifier, SessionContext } from './session-context.ts';
import type { Tasks } from './task.ts';

/** A Zod schema whose parsed value is an object. */
export type AnyObject = z.ZodType<Record<string, unknown>>;

/** Progress frames of one call: at most one in this time, which looks continuous to a person. */
export const PROGRESS_MS = 100;

/** Length of the text of one progress frame; the rest is cut. */
export const MAX_PROGRESS_CHARS = 16 * 1_024;

/** The `data` of a progress frame: a `type` and whatever that type carries (PROTOCOL section 5). */
export interface ToolProgressData {
  readonly type: string;
}

/** One increment of progress. */
export interface ToolProgress<P extends ToolProgressData = ToolProgressData> {
  readonly data: P;
}

/** Result of a call. Failure is thrown as a `GauntletError` with a call error code. */
export interface ToolResult<Output> {
  readonly data: Output;
  /** Added to the conversation after the results. */
  readonly newMessages?: readonly NewMessage[];
  /** Applied in block order; dropped if the call failed, was cancelled or discarded. */
  readonly contextModifier?: ContextModifier;
  /** Set if the tool wrote its whole text to the session's folder itself; a failure carries it in `details.spilled`. */
  readonly spilled?: SpilledText;
  /** Answer of an MCP server, as far as the result for the model leaves parts of it out. */
  readonly mcpResult?: JsonObject;
}

/** Members of a tool's definition that models do not read. */
export interface McpDefinition {
  readonly title?: string;
  /** The whole schema, with its dialect and its combinators. */
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly icons?: readonly JsonObject[];
  readonly _meta?: JsonObject;
}

/** MCP's hints about a tool. Absent ones have the defaults of its specification: nothing is safe. */
export interface McpHints {
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

/** Session that a list of tools is for; empty for the server's own list. */
export interface ListContext {
  readonly principal?: string;
  /** Absolute real path. */
  readonly cwd?: string;
  readonly permissions?: ToolPermissionContext;
  /** Absent for no session, and for one that was closed. */
  readonly home?: SessionHome;
}

/** A session, for what belongs to it alone. */
export interface SessionHome {
  /** The session above all others. */
  readonly rootId: string;
  /** Real path of the folder that it began in. */
  readonly folder: string;
}

/** Options of `prompt`: the list that contains the tool. */
export interface PromptOptions extends ListContext {
  /** Names of the tools in the same list. */
  readonly toolNames: readonly string[];
  /** Built-ins that mode `repl` hides, so that only inner calls reach them; absent in other modes. */
  readonly innerTools?: readonly Tool[];
}

/** Result of `validateInput`; the message goes to the model and says what to do next. */
export type ValidationResult = { readonly result: true } | { readonly result: false; readonly message: string };

/**
 * Matches one input against the specs of a tool's rules, the text between the brackets.
 *
 * Created once a call. For denying and asking, one part of the input must match one rule; for allowing, every part must
 * be covered by some rule, so `covers` takes all rules at once.
 */
export interface PermissionMatcher {
  /** Return the first spec that matches any part of the input, for deny and ask rules. */
  hits(specs: readonly string[], behavior: Exclude<RuleBehavior, 'allow'>): string | undefined;
  /**
   * Called if no spec hits: return the first spec that the input might match, depending on values known only at run
   * time.
   */
  mayHit?(specs: readonly string[]): string | undefined;
  /** Return the specs that together cover every part, for allow rules; `undefined` if a part is not covered. */
  covers(specs: readonly string[]): readonly string[] | undefined;
  /**
   * Describe text that the input executes but does not contain, as the subject of a sentence, unless one of
   * `allowSpecs` names the program that executes it. Deny and ask specs cannot be matched against such text.
   */
  opaque?(allowSpecs: readonly string[]): string | undefined;
  /** True if the input could not be parsed: a rule with a spec never allows it. */
  readonly isUnparsable?: boolean;
  /** Parts of the input, for `explain`; absent if it has only one. */
  readonly parts?: readonly PermissionPart[];
}

/** One part of an input; with `hits` and `covers`, `explain` can judge it separately. */
export interface PermissionPart
  extends Pick<DecisionPart, 'text'>, Partial<Pick<PermissionMatcher, 'hits' | 'covers'>> {
  /** True if it needs no rule inside the working directories. */
  readonly isReadOnly?: boolean;
}

/** Environment of one call. */
export interface ToolUseContext {
  /** Frozen at the start of the call. */
  readonly session: SessionContext;
  /** Aborted when the call, its turn or its session is cancelled. Every wait must take it. */
  readonly signal: AbortSignal;
  readonly sessionId: string;
  /** The session that no call opened: this one, or the topmost of those above it. */
  readonly rootSessionId: string;
  readonly turnId: string;
  readonly toolUseId: string;
  /** For an inner call, the call that made it. */
  readonly parentToolUseId?: string;
  /** Principal that owns the session. */
  readonly principal: string;
  /** All tools the session sees, in list order. */
  readonly tools: readonly Tool[];
  /** The only tools that the session was begun with, by name; absent: it has all. */
  readonly onlyTools?: readonly string[] | undefined;
  /** All tools that `run` can call: in mode `repl` also those that the list hides. */
  readonly innerTools: readonly Tool[];
  /** True if the session's list names a tool without its schema. */
  isDeferred(tool: Tool): boolean;
  /** Form in which ToolSearch answers; absent: `text`. */
  readonly toolSearch?: 'text' | 'references' | undefined;
  /**
   * Absolute path of the session's private folder for spilled results and outputs, readable by its own Read and Grep.
   */
  readonly sessionFolder: string;
  /**
   * True if a deny rule hides this absolute path from reading: Glob omits such names, Grep such lines. Check both the
   * spelled and the real path.
   */
  isReadDenied(absolutePath: string): boolean;
  /**
   * Locations that the gate judged, one for each of the tool's `paths(input)`, in the same order. A tool opens these
   * and locates nothing again, so that a link swapped in after the gate has no effect.
   */
  readonly located?: readonly LocatedPath[];
  /** True if the call passed without a question because it only reads, and so runs in a jail. */
  readonly isHeld?: boolean;
  /** Result of the tool's `analyse`. */
  readonly analysis?: unknown;
  /** Record of the call's changes to files, which can be listed and undone later. */
  readonly changes: ChangeLog;
  /** Runs a block as an inner call of this one. Rejected while the call is still at its gate. */
  readonly run: RunInnerCall;
  /** Opens a session that belongs to this call. Rejected as `run` is. */
  readonly openChild: OpenChild;
  /** Trace of the call, for the requests that it makes; absent where nothing is traced. */
  readonly trace?: RunningTrace | undefined;
  /** The session's background tasks. */
  readonly tasks: Tasks;
  /** Asks people while the call runs. */
  readonly ask: AskMidCall;
  /** Ends the whole turn after this call. */
  abortTurn(reason: string): void;
  /** Sends a `notice` frame to watchers. */
  notify(level: 'info' | 'warning' | 'error', code: string, message: string): void;
}

/** Enforcement for a call that runs without a question because it was classified as read-only. */
export type CallHold =
  /** By the kernel. */
  | { readonly kind: 'jail' }
  /** None beyond the classification, as the operator configured. */
  | { readonly kind: 'words' }
  /** Unavailable, so the call becomes a question. */
  | { readonly kind: 'none'; readonly reason: string };

/** Effect of a call, computed before a question. */
export interface CallPreview {
  /** Shown in the question in place of the intent. */
  readonly display: Display;
  /** Equal for previews with the same effect. */
  readonly key: string;
  /** Internal fields added to the call if it is allowed, so that it does what was shown. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/**
 * Asks the gate whether a call would be allowed, without running it. If it is, `updatedInput` is the parsed input that
 * was judged. `context.run` passes the same gate itself.
 */
export type CanUseTool = (
  tool: Tool,
  input: Readonly<Record<string, unknown>>,
  context: ToolUseContext,
) => Promise<PermissionDecision & { readonly behavior: 'allow' | 'deny' }>;

/**
 * A tool.
 *
 * Gates run before any side effect, on parsed input; `buildTool` answers "no" for members that a tool omits. Rendering
 * methods return data and never throw on partial input.
 */
export interface Tool<
  Input extends AnyObject = AnyObject,
  Output = unknown,
  P extends ToolProgressData = ToolProgressData,
> {
  // Identity
  readonly name: string;
  readonly aliases?: readonly string[];
  /** Search keywords for ToolSearch, 3 to 10 words. */
  readonly searchHint?: string;
  userFacingName(input?: Partial<z.output<Input>>): string;
  /** True if the tool is listed. Called for each list of tools, so it must be cheap. */
  isEnabled(list: ListContext): boolean;
  /** Reason why `isEnabled` is false, for `GET /tools?format=full`. */
  disabledReason?(list: ListContext): string;
  readonly shouldDefer?: boolean;
  readonly alwaysLoad?: boolean;
  readonly strict?: boolean;
  /**
   * Names of tools whose rules and hooks hold for this one, too, since it does what they do. Built-in tools only; its
   * matcher takes their specs.
   */
  readonly rulesOf?: readonly string[];
  /** MCP server or plugin that provides it; absent for built-in tools. */
  readonly origin?: { readonly type: 'mcp' | 'plugin'; readonly name: string };

  // Text
  /** Text for the model: the wire's `description`. */
  prompt(options: PromptOptions): string;
  /** One line for the person who answers a question. */
  description(input: z.output<Input>, options: PromptOptions): string;

  // Schema
  readonly inputSchema: Input;
  readonly outputSchema?: z.ZodType<Output>;
  /** JSON Schema of the MCP server, for its tools. */
  readonly inputJSONSchema?: JsonObject;
  /** Further members of the MCP server's definition, for its tools: passed on in lists of the format `mcp`. */
  readonly mcpDefinition?: McpDefinition;
  /** Hints of the MCP server, for its tools: passed on in lists, and never used for decisions. */
  readonly mcpHints?: McpHints;

  /** Fields that only the server sets, after approval; removed from every input before it is parsed. */
  readonly internalFields?: readonly string[];
  /** Fields only the person sets who answers the question about a call; stripped from what models, hooks and tools send. */
  readonly personFields?: readonly string[];

  // Gates
  /**
   * Computes what several members need of one input. Called once an invocation; the members below receive the result as
   * `analysis`, those with a context as `context.analysis`. Called directly, they compute it themselves.
   */
  analyse?(input: z.output<Input>): unknown;
  validateInput?(input: z.output<Input>, context: ToolUseContext): ValidationResult | Promise<ValidationResult>;
  checkPermissions(input: z.output<Input>, context: ToolUseContext): PermissionResult | Promise<PermissionResult>;
  isReadOnly(input: z.output<Input>, analysis?: unknown): boolean;
  isConcurrencySafe(input: z.output<Input>, analysis?: unknown): boolean;
  isDestructive?(input: z.output<Input>, analysis?: unknown): boolean;
  /** Text for the classifier of mode `auto`; '' means: ask a person. */
  toAutoClassifierInput(input: z.output<Input>): string;
  /** Adds derived fields to the observable clone, in place: the one argument a tool may change. */
  backfillObservableInput?(clone: Record<string, unknown>, context: SessionContext): void;
  preparePermissionMatcher?(input: z.output<Input>, context: SessionContext, analysis?: unknown): PermissionMatcher;
  paths?(input: z.output<Input>, analysis?: unknown): readonly PathUse[];
  /** Sentences that explain a dangerous input to the person who is asked. */
  warnings?(input: z.output<Input>, analysis?: unknown): readonly string[];
  /** Effect of the call, for a question. Changes nothing; `undefined` if it is uncertain. */
  preview?(input: z.output<Input>, context: ToolUseContext): Promise<CallPreview | undefined>;
  /** Rules that "always allow" would add for this input. */
  suggestRules?(input: z.output<Input>, analysis?: unknown): readonly string[];
  /** True for lists, Sleep, ToolSearch and the like, which change nothing outside the session. */
  touchesOnlySession?(input: z.output<Input>, analysis?: unknown): boolean;
  /** True for tools that edit files: mode `acceptEdits` allows them inside the working directories. */
  readonly isFileEdit?: boolean;
  /**
   * Prepares the enforcement of a call that would pass because it only reads; built-in tools only. Absent: the tool
   * itself bounds what it reads. Never rejects.
   */
  prepareHold?(input: z.output<Input>, context: ToolUseContext): Promise<CallHold>;
  /**
   * True if the call runs in a sandbox whose operator allows sandboxed calls without a question; built-in tools only.
   */
  isContained?(input: z.output<Input>): boolean;
  /** True if a failed call of this tool cancels its siblings (Bash). */
  readonly abortsSiblings?: boolean;

  // Run
  call(
    args: z.output<Input>,
    context: ToolUseContext,
    canUseTool: CanUseTool,
    parentMessage: AssistantMessage,
    onProgress?: (progress: ToolProgress<P>) => void,
  ): Promise<ToolResult<Output>>;
  /** Effect of an `interrupt` on a running call. Default: block. */
  interruptBehavior?(input: z.output<Input>, analysis?: unknown): 'cancel' | 'block';

  // Result
  mapToolResultToToolResultBlockParam(output: Output, toolUseId: string): ToolResultBlock;
  /** Result limit in characters. Infinity: the tool limits itself. */
  readonly maxResultSizeChars: number;
  /** True if its result does not count towards the turn's budget (an MCP tool that raised its own limit). */
  readonly isOutsideTurnBudget?: boolean;
  isResultTruncated?(output: Output): boolean;
  isSearchOrReadCommand?(input: z.output<Input>): { readonly isSearch: boolean; readonly isRead: boolean };
  /** `tool_response` of hooks, if it differs from the output. */
  toHookResponse?(output: Output): Readonly<Record<string, unknown>>;
  getToolUseSummary?(input: Partial<z.output<Input>>): string;
  getActivityDescription?(input: Partial<z.output<Input>>): string;

  // Rendering, as data
  renderToolUseMessage(partialInput: Partial<z.output<Input>>): Display;
  renderToolUseProgressMessage?(progress: readonly ToolProgress<P>[]): Display;
  renderToolResultMessage?(
    output: Output,
    progress: readonly ToolProgress<P>[],
    options: { readonly style?: 'condensed' },
  ): Display;
  renderToolUseRejectedMessage?(input: Partial<z.output<Input>>, message: string): Display;
  renderToolUseErrorMessage?(message: string, input: Partial<z.output<Input>>): Display;
  renderGroupedToolUse?(inputs: readonly Partial<z.output<Input>>[]): { readonly key: string; readonly title: string };
}
