/** `gauntlet answer`: lists open questions, or answers one. */
import type { AllPrompts, Answered } from '../../src/wire/session-replies.ts';
import { UsageError } from '../command-line.ts';
import { type ClientCommand, requestJson, serverOf } from '../server-client.ts';
import { safeLine } from '../terminal-text.ts';

type Prompt = AllPrompts['prompts'][number];

/** List the open questions, or answer one of them. @returns The exit code. @throws {UsageError} For unclear words. */
export async function answerQuestion(command: ClientCommand): Promise<number> {
  const { operands, options } = command;
  const server = serverOf(command);
  const { prompts } = await requestJson<AllPrompts>(server, { method: 'GET', path: '/prompts' });
  if (operands.length === 0) return listQuestions(prompts, options['json'] === true);
  const behavior = operands.at(-1) ?? '';
  if (behavior !== 'allow' && behavior !== 'deny') throw new UsageError('The last word must be allow or deny');
  const prompt = questionNamed(prompts, operands.length === 2 ? operands[0] : undefined);
  const { message } = options;
  const body = { behavior, ...(typeof message === 'string' && { message }) };
  const path = `/sessions/${prompt.session_id}/prompts/${prompt.request_id}`;
  const answered = await requestJson<Answered>(server, { method: 'POST', path, body });
  const more = answered.pending === true ? '; another principal has to allow it, too' : '';
  process.stdout.write(`${safeLine(`${answered.behavior}: ${prompt.tool_name}, ${subject(prompt)}`)}${more}\n`);
  return 0;
}

function listQuestions(prompts: readonly Prompt[], asJson: boolean): number {
  const text = prompts.map(questionText).join('\n');
  process.stdout.write(asJson ? `${JSON.stringify({ prompts })}\n` : text || 'No question is open.\n');
  return 0;
}

/** Format a question for people. */
export function questionText(prompt: Omit<Prompt, 'session_id'> & Partial<Pick<Prompt, 'session_id'>>): string {
  const { request_id: id, session_id: sessionId, tool_name: tool, warnings, expires_at: expires } = prompt;
  return [
    `${id}  ${safeLine(tool)}: ${subject(prompt)}`,
    `  ${safeLine(prompt.title)}`,
    ...warnings.map((warning) => `  warning: ${safeLine(warning)}`),
    `  ${sessionId === undefined ? '' : `session ${sessionId}, `}open until ${expires.slice(0, 19).replace('T', ' ')} UTC`,
    `  gauntlet answer ${id} allow | deny\n`,
  ].join('\n');
}

function subject({ display }: Pick<Prompt, 'display'>): string {
  return safeLine([display.title, display.subtitle].filter((text) => text !== undefined && text !== '').join(' '));
}

/** Find the question by its id or the beginning of that; without one, the only one that is open. */
function questionNamed(prompts: readonly Prompt[], name: string | undefined): Prompt {
  const found = prompts.filter(({ request_id: id }) => name === undefined || id.startsWith(name));
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  const exact = prompts.find(({ request_id: id }) => id === name);
  if (exact !== undefined) return exact;
  if (found.length === 0)
    throw new Error(name === undefined ? 'No question is open' : `No open question is called "${name}"`);
  const ids = found.map(({ request_id: id }) => id).join(', ');
  throw new UsageError(`${found.length} questions are meant (${ids}); name one of them`);
}
