/**
 * A person's answer to a question, the same by HTTP and by WebSocket.
 */
import * as z from 'zod';
import { UpdatesSchema } from '../../src/wire/permission-schemas.ts';
import type { PromptAnswer } from '../../src/session/questions/answer.ts';

/** Text for the model that goes with a "deny". */
const MAX_MESSAGE_CHARS = 10_000;

/** An answer's fields, as they stand in a body and in a frame. */
export const AnswerSchema = z.strictObject({
  behavior: z.enum(['allow', 'deny']),
  message: z.string().max(MAX_MESSAGE_CHARS).optional().describe('Told to the model when denied'),
  updated_input: z.record(z.string(), z.unknown()).optional().describe('What runs instead of the input asked about'),
  updated_permissions: UpdatesSchema.optional().describe('Added to the session before it goes on'),
});

/** The wire's answer as the session takes it. */
export function toAnswer(answer: z.output<typeof AnswerSchema>): PromptAnswer {
  return {
    behavior: answer.behavior,
    message: answer.message,
    updatedInput: answer.updated_input,
    updatedPermissions: answer.updated_permissions,
  };
}
