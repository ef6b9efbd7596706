/** The words of a denial that came from nobody being there to ask: they name the rule that would allow. */
import type { PermissionDecision } from '../wire/decision.ts';

/**
 * The message of a question that became a no because nobody can answer it.
 *
 * @param decision The question; where no rule would allow the call, none is named.
 * @param cause Why nobody was asked, as the end of a sentence: `nobody can be asked`.
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
