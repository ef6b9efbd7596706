/**
 * A person's answer to a question, the same by HTTP and by WebSocket.
 */
import * as z from 'zod';
import type { Limits } from '../../config/limits.ts';
import { permissionSchemas } from '../../src/permissions/schemas.ts';
import type { PromptAnswer } from '../../src/session/questions/answer.ts';

/** An answer's fields, as they stand in a body and in a frame. */
export function answerSchema(limits: Limits) {
  return z.strictObject({
    behavior: z.enum(['allow', 'deny']),
    message: z.string().max(limits.queryChars).optional().describe('Told to the model when denied'),
    updated_input: z.record(z.string(), z.unknown()).optional().describe('What runs instead of the input asked about'),
    updated_permissions: z
      .array(permissionSchemas(limits).update)
      .max(limits.permissionUpdates)
      .optional()
      .describe('Added to the session before it goes on'),
  });
}

/** The wire's answer as the session takes it. */
export function toAnswer(answer: z.output<ReturnType<typeof answerSchema>>): PromptAnswer {
  return {
    behavior: answer.behavior,
    message: answer.message,
    updatedInput: answer.updated_input,
    updatedPermissions: answer.updated_permissions,
  };
}
