/** Formats a decision for the reply of `POST …/permissions/explain`. */
import type { PermissionDecision } from '../wire/decision.ts';
import type { WireExplanation } from '../wire/session-replies.ts';
import type { Invocation } from '../tool/invocation.ts';
import { safely } from './matched-rule.ts';

/**
 * Convert a decision to the wire format.
 *
 * @param invocation Call that would run; if one of its tool's methods throws, its answer counts as "no", and as
 * destructive.
 */
export function explainDecision(
  decision: PermissionDecision,
  invocation: Invocation,
): Omit<WireExplanation, 'digest' | 'context_version'> {
  const { behavior, reason, message, warnings, suggestions, allowedBy, parts, containment } = decision;
  return {
    behavior,
    reason,
    message,
    read_only: safely(() => invocation.isReadOnly, false),
    concurrency_safe: invocation.isConcurrencySafe,
    destructive: safely(() => invocation.isDestructive, true),
    warnings,
    suggestions,
    ...(allowedBy && { allowed_by: allowedBy }),
    ...(parts && { parts }),
    ...(containment && { containment }),
  };
}
