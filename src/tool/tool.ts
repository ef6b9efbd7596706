/**
 * What a tool is: a structural type. Any object that satisfies it is a tool, whether built in,
 * from MCP, from a plugin, or made at run time.
 */
import type { z } from 'zod';
import type { AssistantMessage, NewMessage, SpilledText, ToolResultBlock } from '../wire/blocks.ts';
import type { JsonObject } from '../base/json.ts';
import type { DecisionPart, PermissionDecision, PermissionResult } from '../wire/decision.ts';
import type { Display } from '../wire/display.ts';
import type { ChangeLog } from '../wire/file-change.ts';
import type { OpenChild, RunInnerCall } from './inner-call.ts';
import type { LocatedPath, PathUse } from './located-path.ts';
import type { RuleBehavior, ToolPermissionContext } from '../wire/permission-context.ts';
import type { ContextModifier, SessionContext } from './session-context.ts';
import type { Tasks } from './task.ts';

/** A Zod schema whose parsed value is an object. */
export type AnyObject = z.ZodType<Record<string, unknown>>;

/** The `data` of a progress frame: a `type` and whatever that type carries (PROTOCOL section 5). */
export interface ToolProgressData {
  readonly type: string;
}

/** One piece of progress: only what is new. */
export interface ToolProgress<P extends ToolProgressData = ToolProgressData> {
  readonly data: P;
}

/** What a tool hands back. Failure is thrown as a `GauntletError` with a call error code. */
export interface ToolResult<Output> {
  readonly data: Output;
  /** Added to the conversation after the results. */
  readonly newMessages?: readonly NewMessage[];
  /** Applied in block order; dropped when the call failed, was cancelled or discarded. */
  readonly contextModifier?: ContextModifier;
  /** The tool wrote its whole text to the session's folder itself; a failure carries it in `details.spilled`. */
  readonly spilled?: SpilledText;
}

/** MCP's hints about a tool. What is absent is as its specification assumes: nothing is safe. */
export interface McpHints {
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

/** The session that a list of tools is for; the server's own list has none of it. */
export interface ListContext {
  readonly principal?: string;
  /** Absolute real path. */
  readonly cwd?: string;
  readonly permissions?: ToolPermissionContext;
}

/** The list that `prompt` words itself by. */
export interface PromptOptions extends ListContext {
  /** Names of the tools in the same list. */
  readonly toolNames: readonly string[];
}

/** An answer of `validateInput`; the message goes to the model and says what to do next. */
export type ValidationResult = { readonly result: true } | { readonly result: false; readonly message: string };

/**
 * Matches one input against the specs of a tool's rules, the text between the brackets.
 *
 * Made once a call. Denying and asking need one part of the input to match one rule; allowing needs
 * every part covered by some rule, which is why `covers` takes them all at once.
 */
export interface PermissionMatcher {
  /** The first spec that matches any part of the input: for deny and ask rules. */
  hits(specs: readonly string[], behavior: Exclude<RuleBehavior, 'allow'>): string | undefined;
  /** Where none is hit: the first spec that the input may turn out to match, by what is only known when it runs. */
  mayHit?(specs: readonly string[]): string | undefined;
  /** The specs that together cover every part, or undefined: for allow rules. */
  covers(specs: readonly string[]): readonly string[] | undefined;
  /**
   * Text that the input runs and does not show, as the subject of a sentence, unless one of `allowSpecs` spells the
   * program that runs it. Deny and ask specs cannot be held against such text.
   */
  opaque?(allowSpecs: readonly string[]): string | undefined;
  /** True where the input could not be understood: never allowed by a rule with a spec. */
  readonly isUnparsable?: boolean;
  /** The parts, for `explain`; absent where the input has only one. */
  readonly parts?: readonly PermissionPart[];
}

/** One part of an input; a matcher that can judge it alone lets `explain` say what became of it. */
export interface PermissionPart
  extends Pick<DecisionPart, 'text'>, Partial<Pick<PermissionMatcher, 'hits' | 'covers'>> {
  /** Needs no rule inside the working directories. */
  readonly isReadOnly?: boolean;
}

/** What a call may see and use. */
export interface ToolUseContext {
  /** Frozen as of the start of the call. */
  readonly session: SessionContext;
  /** Aborted when the call, its turn or its session is cancelled. Every wait must take it. */
  readonly signal: AbortSignal;
  readonly sessionId: string;
  readonly turnId: string;
  readonly toolUseId: string;
  /** The call that made this one, of an inner call. */
  readonly parentToolUseId?: string;
  /** Who asked. */
  readonly principal: string;
  /** All tools the session sees, in list order. */
  readonly tools: readonly Tool[];
  /** Whether the session's list names a tool without its schema. */
  isDeferred(tool: Tool): boolean;
  /** The session's folder for spilled results and outputs: absolute, private, readable by its own Read and Grep. */
  readonly sessionFolder: string;
  /**
   * Whether a deny rule hides this absolute path from reading: Glob drops such names, Grep such lines.
   * Both the spelled and the real path must be asked about.
   */
  isReadDenied(absolutePath: string): boolean;
  /**
   * What the gate judged, one for each of the tool's `paths(input)`, in the same order. A tool opens these
   * and locates nothing again, so that a link swapped in after the gate leads nowhere.
   */
  readonly located?: readonly LocatedPath[];
  /** It passed unasked because it only reads, and runs in a jail. */
  readonly isHeld?: boolean;
  /** What the tool's `analyse` made of the input. */
  readonly analysis?: unknown;
  /** Where the call says what it does to files: what can be listed and taken back later. */
  readonly changes: ChangeLog;
  /** Runs a block as an inner call of this one. Refused while the call is still at its gate. */
  readonly run: RunInnerCall;
  /** Begins a session that belongs to this call. Refused as `run` is. */
  readonly openChild: OpenChild;
  /** The session's background tasks. */
  readonly tasks: Tasks;
  /** Ends the whole turn after this call. */
  abortTurn(reason: string): void;
  /** Tell whoever watches, as a `notice` frame. */
  notify(level: 'info' | 'warning' | 'error', code: string, message: string): void;
}

/** How a call that nobody is asked about is held to what was said of it. */
export type CallHold =
  /** By the kernel. */
  | { readonly kind: 'jail' }
  /** By nothing but what was said of it, as the operator wants. */
  | { readonly kind: 'words' }
  /** It cannot be, and so it is asked about. */
  | { readonly kind: 'none'; readonly reason: string };

/** What a call would do, worked out before anybody is asked. */
export interface CallPreview {
  /** Stands in the question in place of the intent. */
  readonly display: Display;
  /** Equal for what would come to the same. */
  readonly key: string;
  /** Internal fields of the call that is allowed: what was shown is what runs. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/**
 * Asks the gate whether a call would be allowed, and runs nothing. Where it is, `updatedInput` is the parsed input that
 * was judged. `context.run` asks the same gate by itself.
 */
export type CanUseTool = (
  tool: Tool,
  input: Readonly<Record<string, unknown>>,
  context: ToolUseContext,
) => Promise<PermissionDecision & { readonly behavior: 'allow' | 'deny' }>;

/**
 * A tool.
 *
 * Gates are asked before anything runs, on parsed input; what a tool leaves out is answered "no" by
 * `buildTool`. Methods that draw return data and never throw on partial input.
 */
export interface Tool<
  Input extends AnyObject = AnyObject,
  Output = unknown,
  P extends ToolProgressData = ToolProgressData,
> {
  // Identity
  readonly name: string;
  readonly aliases?: readonly string[];
  /** 3 to 10 words for ToolSearch. */
  readonly searchHint?: string;
  userFacingName(input?: Partial<z.output<Input>>): string;
  /** Asked whenever a list of tools is made, so it must be cheap: a tool that is not enabled is not listed. */
  isEnabled(list: ListContext): boolean;
  /** Why `isEnabled` is false, for `GET /tools?format=full`. */
  disabledReason?(list: ListContext): string;
  readonly shouldDefer?: boolean;
  readonly alwaysLoad?: boolean;
  readonly strict?: boolean;
  /** The MCP server or plugin it came from; built-ins have neither. */
  readonly origin?: { readonly type: 'mcp' | 'plugin'; readonly name: string };

  // Words
  /** What the model reads: the wire's `description`. */
  prompt(options: PromptOptions): string;
  /** One line for the person who is asked. */
  description(input: z.output<Input>, options: PromptOptions): string;

  // Schema
  readonly inputSchema: Input;
  readonly outputSchema?: z.ZodType<Output>;
  /** The server's own JSON Schema, for MCP tools. */
  readonly inputJSONSchema?: JsonObject;
  /** The server's own hints, for MCP tools: passed on in lists, and decide nothing. */
  readonly mcpHints?: McpHints;

  /** Fields only the server sets, after approval; stripped before parsing whoever sends them. */
  readonly internalFields?: readonly string[];

  // Gates
  /**
   * Works out what several members need of one input. Asked once an invocation; the members below get the answer as
   * `analysis`, those with a context as `context.analysis`. Called directly, they work it out themselves.
   */
  analyse?(input: z.output<Input>): unknown;
  validateInput?(input: z.output<Input>, context: ToolUseContext): ValidationResult | Promise<ValidationResult>;
  checkPermissions(input: z.output<Input>, context: ToolUseContext): PermissionResult | Promise<PermissionResult>;
  isReadOnly(input: z.output<Input>, analysis?: unknown): boolean;
  isConcurrencySafe(input: z.output<Input>, analysis?: unknown): boolean;
  isDestructive?(input: z.output<Input>, analysis?: unknown): boolean;
  /** What the classifier of mode `auto` reads; '' means: ask a person. */
  toAutoClassifierInput(input: z.output<Input>): string;
  /** Adds derived fields to the observable clone, in place: the one argument a tool may change. */
  backfillObservableInput?(clone: Record<string, unknown>, context: SessionContext): void;
  preparePermissionMatcher?(input: z.output<Input>, context: SessionContext, analysis?: unknown): PermissionMatcher;
  paths?(input: z.output<Input>, analysis?: unknown): readonly PathUse[];
  /** Sentences that make a dangerous input plain to the person who is asked. */
  warnings?(input: z.output<Input>, analysis?: unknown): readonly string[];
  /** For a question: what the call would do. Changes nothing; undefined where that is not certain. */
  preview?(input: z.output<Input>, context: ToolUseContext): Promise<CallPreview | undefined>;
  /** What "always allow" would add for this input. */
  suggestRules?(input: z.output<Input>, analysis?: unknown): readonly string[];
  /** Lists, Sleep, ToolSearch and their like: changes nothing outside the session. */
  touchesOnlySession?(input: z.output<Input>, analysis?: unknown): boolean;
  /** Edits files: mode `acceptEdits` allows it inside the working directories. */
  readonly isFileEdit?: boolean;
  /**
   * Gets ready what holds a call that would pass because it only reads; built-in tools only. Absent: the tool itself
   * bounds what it reads. Never rejects.
   */
  prepareHold?(input: z.output<Input>, context: ToolUseContext): Promise<CallHold>;
  /** Runs in a sandbox whose operator lets what it holds run unasked; built-in tools only. */
  isContained?(input: z.output<Input>): boolean;
  /** A call of this tool that failed cancels its siblings (Bash). */
  readonly abortsSiblings?: boolean;

  // Run
  call(
    args: z.output<Input>,
    context: ToolUseContext,
    canUseTool: CanUseTool,
    parentMessage: AssistantMessage,
    onProgress?: (progress: ToolProgress<P>) => void,
  ): Promise<ToolResult<Output>>;
  /** What an `interrupt` does to a running call. Default: block. */
  interruptBehavior?(input: z.output<Input>, analysis?: unknown): 'cancel' | 'block';

  // Result
  mapToolResultToToolResultBlockParam(output: Output, toolUseId: string): ToolResultBlock;
  /** Infinity: the tool limits itself. */
  readonly maxResultSizeChars: number;
  /** Its result does not count towards the turn's sum (an MCP tool that raised its own limit). */
  readonly isOutsideTurnBudget?: boolean;
  isResultTruncated?(output: Output): boolean;
  isSearchOrReadCommand?(input: z.output<Input>): { readonly isSearch: boolean; readonly isRead: boolean };
  /** `tool_response` of hooks, where it is not the output itself. */
  toHookResponse?(output: Output): Readonly<Record<string, unknown>>;
  getToolUseSummary?(input: Partial<z.output<Input>>): string;
  getActivityDescription?(input: Partial<z.output<Input>>): string;

  // Drawing, as data
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
