/** Messages of denials that occur because no person can be asked; they name the rule that would allow the call. */
import type { PermissionDecision } from '../wire/decision.ts';

/**
 * Format the message of a question that no person can answer.
 *
 * @param decision The question; without a rule that would allow the call, none is named.
 * @param cause Reason why no person was asked, as the end of a sentence: `nobody can be asked`.
 */
export function unansweredMessage(
  { message, allowedBy = [] }: Pick<PermissionDecision, 'message' | 'allowedBy'>,
  cause: string,
): string {
  const unanswered = `${message}, and ${cause}`;
  if (allowedBy.length === 0) return unanswered;
  const noun = allowedBy.length > 1 ? 'The rules' : 'The rule';
  return `${unanswered}. ${noun} ${allowedBy.map((rule) => `"${rule}"`).join(', ')} would allow it`;
}
