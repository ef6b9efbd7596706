/**
 * One block in execution: its tool, its input, and everything the tool derives from that input.
 *
 * Each member is computed once, on first access, and used from the scheduler through the gate to the run. A changed
 * input needs a new invocation.
 */
import type { ToolUseBlock } from '../wire/blocks.ts';
import type { PathUse } from './located-path.ts';
import type { SessionContext } from './session-context.ts';
import type { PermissionMatcher, Tool } from './tool.ts';

/** A validated input. */
export type ToolInput = Readonly<Record<string, unknown>>;

/**
 * A tool and its parsed input.
 *
 * Members throw what the tool throws, except for `isConcurrencySafe`, `touchesOnlySession` and `hasEffects`, which then
 * have the cautious value.
 */
export class Invocation {
  /** The block as it came in; never changed. */
  readonly block: ToolUseBlock;
  readonly tool: Tool;
  /** Parsed: defaults are filled in, unknown fields were rejected. */
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

  /** Result of the tool's `analyse`; `undefined` if it has none. */
  get analysis(): unknown {
    return (this.#analysis ??= this.tool.analyse?.(this.input));
  }

  get isReadOnly(): boolean {
    return (this.#isReadOnly ??= this.tool.isReadOnly(this.input, this.analysis) === true);
  }

  /** False if the tool throws. */
  get isConcurrencySafe(): boolean {
    return (this.#isConcurrencySafe ??= answersYes(() => this.tool.isConcurrencySafe(this.input, this.analysis)));
  }

  /** False if the tool throws. */
  get touchesOnlySession(): boolean {
    const { tool } = this;
    return (this.#touchesOnlySession ??=
      tool.touchesOnlySession !== undefined &&
      answersYes(() => tool.touchesOnlySession?.(this.input, this.analysis) === true));
  }

  /** True if it may change something outside its session, or if the tool throws. */
  get hasEffects(): boolean {
    return !this.touchesOnlySession && !answersYes(() => this.isReadOnly);
  }

  get isDestructive(): boolean {
    return this.tool.isDestructive?.(this.input, this.analysis) === true;
  }

  /** Paths that it reads and writes; `undefined` for a tool that declares none. */
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
   * Return the copy of the input that hooks, rules and people see, with the fields the tool derives for them. The input
   * itself is never changed.
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

  /** Return the matcher of the input against rules; `undefined` for a tool whose specs are paths or domains. */
  matcher(session: SessionContext): PermissionMatcher | undefined {
    if (!this.tool.preparePermissionMatcher) return undefined;
    this.#bindTo(session);
    return (this.#matcher ??= this.tool.preparePermissionMatcher(this.observable(session), session, this.analysis));
  }

  /** Drop cached values that depend on another version of the session. */
  #bindTo(session: SessionContext): void {
    if (this.#session === session) return;
    this.#session = session;
    this.#observable = undefined;
    this.#matcher = undefined;
  }
}

/** Evaluate a predicate of a tool; anything but `true`, an exception included, is false. */
export function answersYes(question: () => boolean): boolean {
  try {
    return question() === true;
  } catch {
    // A throwing tool gives no answer, and unknown means no.
    return false;
  }
}
