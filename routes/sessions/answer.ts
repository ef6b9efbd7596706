/**
 * Answers to questions, in the same form over HTTP and WebSocket.
 */
import type { PromptAnswer } from '../../src/session/questions/answer.ts';
import type { WireAnswer } from '../../src/wire/client-frames.ts';

/** Convert an answer from the wire. */
export function toAnswer(answer: WireAnswer): PromptAnswer {
  return {
    behavior: answer.behavior,
    message: answer.message,
    updatedInput: answer.updated_input,
    updatedPermissions: answer.updated_permissions,
  };
}
