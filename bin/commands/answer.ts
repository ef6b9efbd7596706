/** `gauntlet answer`: lists open questions, or answers one. */
import type { AllPrompts, Answered } from '../../src/wire/session-replies.ts';
import { UsageError } from '../command-line.ts';
import { type ClientCommand, requestJson, serverOf } from '../server-client.ts';
import { exactText, safeJson, safeLine } from '../terminal-text.ts';

type Prompt = AllPrompts['prompts'][number];

/** Fields of an input that are shown, and characters of each. */
const MAX_FIELDS = 20;
const MAX_FIELD_CHARS = 4_000;

/** List the open questions, or answer one of them. @returns The exit code. @throws {UsageError} For unclear words. */
export async function answerQuestion(command: ClientCommand): Promise<number> {
  const { operands, options } = command;
  const server = serverOf(command);
  const { prompts } = await requestJson<AllPrompts>(server, { method: 'GET', path: '/prompts' });
  if (operands.length === 0) return listQuestions(prompts, options['json'] === true);
  const behavior = operands.at(-1) ?? '';
  if (behavior !== 'allow' && behavior !== 'deny') throw new UsageError('The last word must be allow or deny');
  const name = operands.length === 2 ? operands[0] : undefined;
  const prompt = questionNamed(prompts, name);
  // Somebody else may have answered the one that was read, and another one be open by now.
  if (behavior === 'allow' && name === undefined)
    throw new UsageError(`Name the question that you have read: gauntlet answer ${prompt.request_id} allow`);
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
  process.stdout.write(asJson ? `${safeJson({ prompts })}\n` : text || 'No question is open.\n');
  return 0;
}

/** Format a question for people: the input as it would run, which the words of a model may not describe. */
export function questionText(prompt: Omit<Prompt, 'session_id'> & Partial<Pick<Prompt, 'session_id'>>): string {
  const { request_id: id, session_id: sessionId, tool_name: tool, warnings, expires_at: expires } = prompt;
  return [
    `${id}  ${safeLine(tool)}: ${subject(prompt)}`,
    `  ${safeLine(prompt.title)}`,
    ...inputLines(prompt.input),
    ...warnings.map((warning) => `  warning: ${safeLine(warning)}`),
    `  ${sessionId === undefined ? '' : `session ${sessionId}, `}open until ${expires.slice(0, 19).replace('T', ' ')} UTC`,
    `  gauntlet answer ${id} allow | deny\n`,
  ].join('\n');
}

function inputLines(input: Prompt['input']): readonly string[] {
  const fields = Object.entries(input ?? {});
  const left = fields.length - MAX_FIELDS;
  return [
    ...fields.slice(0, MAX_FIELDS).flatMap(([key, value]) => fieldLines(safeLine(exactText(key)), value)),
    ...(left > 0 ? [`  | ${left} more fields`] : []),
  ];
}

/** Mark each line, so that none looks like a line of the question itself. */
function fieldLines(key: string, value: unknown): readonly string[] {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const left = text.length - MAX_FIELD_CHARS;
  const shown = exactText(text.slice(0, MAX_FIELD_CHARS)) + (left > 0 ? `… (${left} more characters)` : '');
  return `${key}: ${shown}`.split('\n').map((line) => `  | ${line}`);
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
