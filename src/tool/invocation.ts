/**
 * One block that is executed: its tool, its input, and all that the tool says of that input.
 *
 * Each answer is worked out once, when it is first asked for, and carried from the scheduler through the gate to the
 * run. Another input makes another invocation.
 */
import type { ToolUseBlock } from '../wire/blocks.ts';
import type { PathUse } from './located-path.ts';
import type { SessionContext } from './session-context.ts';
import type { PermissionMatcher, Tool } from './tool.ts';

/** An input whose schema holds. */
export type ToolInput = Readonly<Record<string, unknown>>;

/**
 * A tool and its parsed input.
 *
 * Members throw what the tool throws, but for `isConcurrencySafe`, `touchesOnlySession` and `hasEffects`, whose answer
 * is then the cautious one.
 */
export class Invocation {
  /** As it came in; never changed. */
  readonly block: ToolUseBlock;
  readonly tool: Tool;
  /** Parsed: defaults are filled in, unknown fields were refused. */
  readonly input: ToolInput;
  #analysis: unknown;
  #isReadOnly: boolean | undefined;
  #isConcurrencySafe: boolean | undefined;
  #touchesOnlySession: boolean | undefined;
  #paths: readonly PathUse[] | undefined;
  #warnings: readonly string[] | undefined;
  #session: SessionContext | undefined;
  #observable: ToolInput | undefined;
  #matcher: PermissionMatcher | undefined;

  constructor(block: ToolUseBlock, tool: Tool, input: ToolInput) {
    this.block = block;
    this.tool = tool;
    this.input = input;
  }

  /** What the tool's `analyse` made of the input; undefined where it has none. */
  get analysis(): unknown {
    return (this.#analysis ??= this.tool.analyse?.(this.input));
  }

  get isReadOnly(): boolean {
    return (this.#isReadOnly ??= this.tool.isReadOnly(this.input, this.analysis) === true);
  }

  /** False where the tool cannot tell. */
  get isConcurrencySafe(): boolean {
    return (this.#isConcurrencySafe ??= answersYes(() => this.tool.isConcurrencySafe(this.input, this.analysis)));
  }

  /** False where the tool cannot tell. */
  get touchesOnlySession(): boolean {
    const { tool } = this;
    return (this.#touchesOnlySession ??=
      tool.touchesOnlySession !== undefined &&
      answersYes(() => tool.touchesOnlySession?.(this.input, this.analysis) === true));
  }

  /** True where it may change something outside its session, or where the tool cannot tell. */
  get hasEffects(): boolean {
    return !this.touchesOnlySession && !answersYes(() => this.isReadOnly);
  }

  get isDestructive(): boolean {
    return this.tool.isDestructive?.(this.input, this.analysis) === true;
  }

  /** Paths that it reads and writes; undefined for a tool that declares none. */
  get paths(): readonly PathUse[] | undefined {
    return (this.#paths ??= this.tool.paths?.(this.input, this.analysis));
  }

  get warnings(): readonly string[] {
    return (this.#warnings ??= this.tool.warnings?.(this.input, this.analysis) ?? []);
  }

  get interruptBehavior(): 'cancel' | 'block' {
    return this.tool.interruptBehavior?.(this.input, this.analysis) ?? 'block';
  }

  /**
   * The copy of the input that hooks, rules and people see, with what the tool adds for them. The input itself is never
   * changed.
   */
  observable(session: SessionContext): ToolInput {
    if (!this.tool.backfillObservableInput) return this.input;
    this.#bindTo(session);
    if (!this.#observable) {
      const clone = structuredClone(this.input) as Record<string, unknown>;
      this.tool.backfillObservableInput(clone, session);
      this.#observable = clone;
    }
    return this.#observable;
  }

  /** Matches the input against rules; undefined for a tool whose specs are paths or domains. */
  matcher(session: SessionContext): PermissionMatcher | undefined {
    if (!this.tool.preparePermissionMatcher) return undefined;
    this.#bindTo(session);
    return (this.#matcher ??= this.tool.preparePermissionMatcher(this.observable(session), session, this.analysis));
  }

  /** Answers that depend on the session hold for one version of it. */
  #bindTo(session: SessionContext): void {
    if (this.#session === session) return;
    this.#session = session;
    this.#observable = undefined;
    this.#matcher = undefined;
  }
}

/** Ask a tool a question about a call; an answer that is not plainly "yes", an exception included, is a "no". */
export function answersYes(question: () => boolean): boolean {
  try {
    return question() === true;
  } catch {
    // A tool that throws knows nothing, and unknown means no.
    return false;
  }
}
