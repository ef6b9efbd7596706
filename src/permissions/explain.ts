/** A decision as `POST …/permissions/explain` replies it. */
import type { PermissionDecision } from '../contract/decision.ts';
import type { Tool } from '../contract/tool.ts';

/** The wire object of `explain`, PROTOCOL section 3. */
export type WireExplanation = Pick<
  PermissionDecision,
  'behavior' | 'reason' | 'message' | 'warnings' | 'suggestions' | 'parts' | 'containment'
> & {
  readonly read_only: boolean;
  readonly concurrency_safe: boolean;
  readonly destructive: boolean;
  /** Rules that would allow it; absent where none would. */
  readonly allowed_by?: readonly string[];
};

/**
 * Turn a decision around for the wire.
 *
 * @param input What would run, parsed; a tool whose answer about it throws counts as "no", and as destructive.
 */
export function explainDecision(
  decision: PermissionDecision,
  tool: Tool,
  input: Readonly<Record<string, unknown>>,
): WireExplanation {
  const { behavior, reason, message, warnings, suggestions, allowedBy, parts, containment } = decision;
  return {
    behavior,
    reason,
    message,
    read_only: answer(() => tool.isReadOnly(input), false),
    concurrency_safe: answer(() => tool.isConcurrencySafe(input), false),
    destructive: answer(() => tool.isDestructive?.(input) ?? false, true),
    warnings,
    suggestions,
    ...(allowedBy && { allowed_by: allowedBy }),
    ...(parts && { parts }),
    ...(containment && { containment }),
  };
}

function answer(question: () => boolean, otherwise: boolean): boolean {
  try {
    return question();
  } catch {
    // The tool's own fault; the reply says the cautious thing.
    return otherwise;
  }
}
