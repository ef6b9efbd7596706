/**
 * Merges the answers of several hooks to one event: the strictest decision applies, and no text is lost.
 */
import type { PermissionUpdate } from '../wire/permission-context.ts';
import type { HookAnswer } from './hook-answer.ts';

/** The answers of one event's hooks, merged. */
export interface HooksVerdict extends Pick<
  HookAnswer,
  'permission' | 'updatedInput' | 'updatedToolOutput' | 'updatedMcpOutput' | 'stopReason' | 'withheld'
> {
  readonly additionalContexts: readonly string[];
  readonly feedback: readonly string[];
  /** Updates of all hooks that allowed, in their order. */
  readonly updatedPermissions: readonly PermissionUpdate[];
}

/** Verdict without any answer. */
export const NO_ANSWER: HooksVerdict = Object.freeze({ additionalContexts: [], feedback: [], updatedPermissions: [] });

/** Strictest first. */
const STRICTNESS = ['deny', 'ask', 'allow'] as const;

/** Merge answers in the order of the settings: of two replacements the later one applies. */
export function mergeAnswers(answers: readonly HookAnswer[]): HooksVerdict {
  const last = <Name extends keyof HookAnswer>(name: Name) =>
    answers.findLast((answer) => answer[name] !== undefined)?.[name];
  const permission = mergePermissions(answers);
  const [updatedInput, updatedToolOutput, updatedMcpOutput] = [
    last('updatedInput'),
    last('updatedToolOutput'),
    last('updatedMcpOutput'),
  ];
  const stopReason = answers.find((answer) => answer.stopReason !== undefined)?.stopReason;
  const withheld = last('withheld');
  return {
    ...(permission && { permission }),
    ...(updatedInput && { updatedInput }),
    ...(updatedToolOutput !== undefined && { updatedToolOutput }),
    ...(updatedMcpOutput !== undefined && { updatedMcpOutput }),
    ...(stopReason !== undefined && { stopReason }),
    ...(withheld !== undefined && { withheld }),
    additionalContexts: answers.flatMap(({ additionalContext }) => additionalContext ?? []),
    feedback: answers.flatMap(({ feedback }) => feedback ?? []),
    updatedPermissions: answers.flatMap(({ updatedPermissions }) => updatedPermissions ?? []),
  };
}

/**
 * Merge decisions: deny before ask before allow, with the distinct reasons of the hooks that made the strictest one.
 */
export function mergePermissions(answers: readonly Pick<HookAnswer, 'permission'>[]): HookAnswer['permission'] {
  for (const behavior of STRICTNESS) {
    const deciding = answers.flatMap(({ permission }) => (permission?.behavior === behavior ? permission : []));
    if (deciding.length === 0) continue;
    const reasons = [...new Set(deciding.flatMap(({ reason }) => reason ?? []))];
    return { behavior, ...(reasons.length > 0 && { reason: reasons.join('\n') }) };
  }
  return undefined;
}
