/** The words of a denial that came from nobody being there to ask: they name the rule that would allow. */
import type { PermissionDecision } from '../contract/decision.ts';
import type { PermissionUpdate } from '../contract/permission-context.ts';

/**
 * The message of a question that became a no because nobody can answer it.
 *
 * @param decision The question, with its suggestions.
 * @param toolName Named where no narrower rule is known.
 * @param cause Why nobody was asked, as the end of a sentence: `nobody can be asked`.
 */
export function unansweredMessage(
  decision: Pick<PermissionDecision, 'message' | 'suggestions'> & { readonly allowedBy?: readonly string[] },
  toolName: string,
  cause = 'nobody is connected who could answer',
): string {
  const rules = decision.allowedBy ?? allowingRules(decision.suggestions);
  const named = (rules.length > 0 ? rules : [toolName]).map((rule) => `"${rule}"`).join(', ');
  const noun = rules.length > 1 ? 'The rules' : 'The rule';
  return `${decision.message}, and ${cause}. ${noun} ${named} would allow it`;
}

/** The allow rules among suggestions. */
export function allowingRules(suggestions: readonly PermissionUpdate[]): readonly string[] {
  return suggestions.flatMap((update) =>
    update.type === 'addRules' && update.behavior === 'allow' ? update.rules : [],
  );
}
