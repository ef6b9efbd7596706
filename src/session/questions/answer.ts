/**
 * Answers an open question, and applies the permission updates in the answer.
 */
import { GauntletError } from '../../base/errors.ts';
import type { PermissionUpdate } from '../../wire/permission-context.ts';
import type { QuestionAnswer } from '../../permissions/questions.ts';
import type { Answered } from '../../wire/session-replies.ts';
import type { SessionCore } from '../session-core.ts';

/** An answer to a question, with updates of the session's permissions. */
export interface PromptAnswer extends QuestionAnswer {
  readonly updatedPermissions?: readonly PermissionUpdate[];
}

/**
 * Answer a question; the first answer wins. Rules in it are applied to the other open questions.
 *
 * @param by Principal who answers.
 * @throws {GauntletError} `not_found`, `conflict`, `invalid_request`, `forbidden`, `log_unavailable`
 */
export async function answerPrompt(
  core: SessionCore,
  requestId: string,
  answer: PromptAnswer,
  by: string,
): Promise<Answered> {
  const updates = answer.updatedPermissions ?? [];
  const climbed = core.climbed.get(requestId);
  const question = climbed?.frame ?? core.questions.open.find(({ request_id }) => request_id === requestId);
  if (question?.approvals && updates.length > 0) {
    const message =
      'Cannot change what the session may do with this answer: it is one of several. Answer without "updated_permissions"';
    throw new GauntletError('invalid_request', message, { details: { reason: 'approvals' } });
  }
  // Checked first: invalid updates reject the answer while the question is still open.
  core.permissionsAfter(updates);
  const { behavior, message: reason, updatedInput } = answer;
  // Updates apply to this session; a child that asked follows it.
  const settled = climbed
    ? await climbed.child.answer(requestId, { behavior, message: reason, updatedInput }, by)
    : await core.questions.answer(requestId, answer, by);
  if (updates.length === 0) return settled;
  await updateAndRejudge(core, updates);
  return settled;
}

/** Update the permissions, and apply them to the open questions. @throws {GauntletError} as `updatePermissions` */
export async function updateAndRejudge(core: SessionCore, updates: readonly PermissionUpdate[]): Promise<void> {
  await core.updatePermissions(updates);
  await core.questions.rejudgeAll();
}
