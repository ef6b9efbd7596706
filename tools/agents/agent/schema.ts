/** The input of Agent. */
import * as z from 'zod';
import type { AgentType } from '../../../src/agents/agent-types.ts';
import { MAIN_AGENT } from '../../../src/agents/teams.ts';
import { GENERAL_TYPE } from './built-in-types.ts';

const MAX_DESCRIPTION_CHARS = 200;

const MAX_PROMPT_CHARS = 200_000;

/** Build the schema with the known types and models. */
export function agentInput(types: readonly AgentType[], models: readonly string[]) {
  const list = types.map(({ name, description }) => `\n- ${name}: ${description}`).join('');
  return z.strictObject({
    description: z.string().min(1).max(MAX_DESCRIPTION_CHARS).describe('The task in three to five words, for people'),
    prompt: z
      .string()
      .min(1)
      .max(MAX_PROMPT_CHARS)
      .describe('The task, with all that the agent must know: it sees nothing of this conversation'),
    subagent_type: z.string().optional().describe(`The type of agent, "${GENERAL_TYPE}" where none is named:${list}`),
    model: z
      .string()
      .optional()
      .describe(`Another model than that of the type: ${models.map((name) => `"${name}"`).join(', ') || 'none here'}`),
    run_in_background: z
      .boolean()
      .optional()
      .describe('Answer with a task_id at once, and let the agent work on beside you'),
    isolation: z
      .literal('worktree')
      .optional()
      .describe('"worktree": the agent works in a git worktree of its own, which stays where it changed something'),
    name: z
      .string()
      .regex(/^[A-Za-z][\w-]{0,63}$/, 'expected 1 to 64 letters, digits, "_" and "-", the first a letter')
      .refine((name) => name !== MAIN_AGENT, `"${MAIN_AGENT}" is you`)
      .optional()
      .describe('A name under which others can write to the agent while it works'),
    output_schema: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('JSON Schema of an object: the agent answers with data that fits it, in place of a text'),
  });
}

/** A parsed input. */
export type AgentArguments = z.output<ReturnType<typeof agentInput>>;
