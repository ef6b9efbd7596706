/**
 * A person's answer to a question, the same by HTTP and by WebSocket.
 */
import type { PromptAnswer } from '../../src/session/questions/answer.ts';
import type { WireAnswer } from '../../src/wire/client-frames.ts';

/** The wire's answer as the session takes it. */
export function toAnswer(answer: WireAnswer): PromptAnswer {
  return {
    behavior: answer.behavior,
    message: answer.message,
    updatedInput: answer.updated_input,
    updatedPermissions: answer.updated_permissions,
  };
}
