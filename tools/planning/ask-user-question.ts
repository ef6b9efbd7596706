/** AskUserQuestion: up to four questions to the person, with answers to choose from. */
import * as z from 'zod';
import { GauntletError } from '../../src/base/errors.ts';
import { buildTool } from '../../src/tool/build-tool.ts';
import type { CallPreview } from '../../src/tool/tool.ts';
import type { Display, DisplayBlock, FormField } from '../../src/wire/display.ts';
import { drawFailure } from '../../src/tool/draw-failure.ts';

const PROMPT = `Asks the person up to four questions and waits for the answers.

Use it when a decision is theirs and changes what you do next: a requirement that can be read in two ways, a choice between designs, a preference. Decide yourself what follows from the code or is easily changed later, and never ask whether to go on. Whether a plan is good is asked by ExitPlanMode.

- Give each question two to four answers that exclude each other, or set multiSelect. Put the one you would take first and end its label with "(Recommended)".
- Do not add an answer such as "Other": a person can always answer in words of their own.
- A \`preview\` shows a draft, a layout or code beside an answer.
- A person who does not want to answer says no, and the result has their words.`;

const MAX_QUESTION_CHARS = 2_000;
const MAX_HEADER_CHARS = 12;
const MAX_LABEL_CHARS = 200;
const MAX_DESCRIPTION_CHARS = 2_000;
const MAX_PREVIEW_CHARS = 10_000;
const MAX_ANSWER_CHARS = 10_000;

const Option = z.strictObject({
  label: z.string().min(1).max(MAX_LABEL_CHARS).describe('The answer, in one to five words'),
  description: z.string().max(MAX_DESCRIPTION_CHARS).describe('What choosing it means'),
  preview: z.string().max(MAX_PREVIEW_CHARS).optional().describe('Text to show beside it, such as a draft'),
});

const Question = z.strictObject({
  question: z.string().min(1).max(MAX_QUESTION_CHARS).describe('The whole question, ending with a question mark'),
  header: z
    .string()
    .max(MAX_HEADER_CHARS)
    .describe(`A word that stands for it, as in "Database"; at most ${MAX_HEADER_CHARS} characters`),
  options: z
    .array(Option)
    .min(2)
    .max(4)
    .refine((options) => areUnique(options.map(({ label }) => label)), 'each label must stand once')
    .describe('The answers to choose from'),
  multiSelect: z.boolean().default(false).describe('Several answers may be chosen (default false)'),
});

const AskUserQuestionInput = z.strictObject({
  questions: z
    .array(Question)
    .min(1)
    .max(4)
    .refine((questions) => areUnique(questions.map(({ question }) => question)), 'each question must stand once')
    .describe('The questions'),
  answers: z
    .record(z.string(), z.union([z.string().max(MAX_ANSWER_CHARS), z.array(z.string().max(MAX_ANSWER_CHARS)).max(20)]))
    .optional()
    .describe('Filled in by the person, by the text of the question; leave it out'),
});

/** A parsed input. */
export type AskUserQuestionArguments = z.output<typeof AskUserQuestionInput>;

type AskedQuestion = AskUserQuestionArguments['questions'][number];

/** Make AskUserQuestion. */
export function askUserQuestionTool() {
  return buildTool({
    name: 'AskUserQuestion',
    searchHint: 'ask the person to choose between answers',
    alwaysLoad: true,
    touchesOnlySession: () => true,
    inputSchema: AskUserQuestionInput,
    personFields: ['answers'],
    maxResultSizeChars: 100_000,
    prompt: () => PROMPT,
    description: ({ questions }) => questions.map(({ question }) => question).join(' '),
    validateInput: ({ questions, answers = {} }) => {
      const unknown = Object.keys(answers).find((text) => questions.every(({ question }) => question !== text));
      if (unknown === undefined) return { result: true };
      const message = `"answers" names a question that was not asked: "${unknown}". Its keys are the texts of the questions`;
      return { result: false, message };
    },
    checkPermissions: ({ questions }) => ({
      behavior: 'ask',
      isRequired: true,
      message: questions.length === 1 ? 'The model has a question' : `The model has ${questions.length} questions`,
    }),
    preview: (input) => Promise.resolve(questionForm(input)),
    interruptBehavior: () => 'cancel',
    call: ({ questions, answers }) => Promise.resolve({ data: answered(questions, answers) }),
    mapToolResultToToolResultBlockParam: (output: AskUserQuestionOutput, toolUseId) => ({
      type: 'tool_result',
      tool_use_id: toolUseId,
      content: answerText(output),
    }),
    getToolUseSummary: ({ questions }) => firstQuestion(questions) ?? '',
    getActivityDescription: () => 'Waiting for an answer',
    renderToolUseMessage: renderQuestions,
    renderToolResultMessage: (output: AskUserQuestionOutput, _progress, { style }): Display => ({
      title: 'Answered',
      subtitle: Object.values(output.answers).join('; '),
      tone: 'success',
      blocks: style === 'condensed' ? [] : [{ kind: 'table', columns: ['Question', 'Answer'], rows: rowsOf(output) }],
    }),
    renderToolUseRejectedMessage: (_input, message) => drawFailure('Not answered', message),
    renderToolUseErrorMessage: (message) => drawFailure('Could not ask', message),
  });
}

/** The questions, and the answers by the text of their question. */
export interface AskUserQuestionOutput {
  readonly questions: readonly AskedQuestion[];
  /** Several answers to one question are joined by commas. */
  readonly answers: Readonly<Record<string, string>>;
}

function answered(
  questions: readonly AskedQuestion[],
  given: AskUserQuestionArguments['answers'] = {},
): AskUserQuestionOutput {
  const answers = Object.fromEntries(
    Object.entries(given)
      .map(([question, answer]) => [question, typeof answer === 'string' ? answer : answer.join(', ')] as const)
      .filter(([, answer]) => answer.trim() !== ''),
  );
  if (Object.keys(answers).length > 0) return { questions, answers };
  const advice = 'Go on as you think best and say what you assumed, or ask again';
  throw new GauntletError('tool_failed', `The person let the question pass without an answer. ${advice}`);
}

function rowsOf({ questions, answers }: AskUserQuestionOutput): readonly (readonly [string, string])[] {
  return questions.map(({ question }) => [
    question,
    Object.hasOwn(answers, question) ? (answers[question] ?? '') : '(no answer)',
  ]);
}

function answerText(output: AskUserQuestionOutput): string {
  const lines = rowsOf(output).map(([question, answer]) => `- "${question}": ${answer}`);
  return ['The person answered:', ...lines].join('\n');
}

/** Build the form that the person fills in. */
function questionForm({ questions }: AskUserQuestionArguments): CallPreview {
  const fields = questions.map(({ question, header, options, multiSelect }): FormField => ({
    name: question,
    label: question,
    description: header,
    type: 'choice',
    choices: [
      ...options.map(({ label, description, preview }) => ({
        value: label,
        label,
        description,
        ...(preview !== undefined && { preview }),
      })),
      { value: 'Other', label: 'Other', description: 'Another answer: give its text in place of this value' },
    ],
    multiple: multiSelect,
    other: true,
    required: true,
  }));
  const title = questions.length === 1 ? 'Question' : `${questions.length} questions`;
  return { display: { title, blocks: [{ kind: 'form', key: 'answers', fields }] }, key: 'questions', fields: {} };
}

/** The questions, as far as the input has come. */
function renderQuestions({ questions }: Partial<AskUserQuestionArguments>): Display {
  const first = firstQuestion(questions);
  const blocks = Array.isArray(questions) ? questions.flatMap(questionBlocks) : [];
  return { title: 'Question', ...(first !== undefined && { subtitle: first }), blocks };
}

function questionBlocks(asked: Partial<AskedQuestion> | null | undefined): readonly DisplayBlock[] {
  if (typeof asked?.question !== 'string') return [];
  const items = Array.isArray(asked.options)
    ? asked.options.flatMap((option: Partial<AskedQuestion['options'][number]> | null | undefined) =>
        typeof option?.label === 'string' ? [option.label] : [],
      )
    : [];
  return [{ kind: 'text', text: asked.question }, ...(items.length > 0 ? ([{ kind: 'list', items }] as const) : [])];
}

function firstQuestion(questions: unknown): string | undefined {
  const first: unknown = Array.isArray(questions) ? questions[0] : undefined;
  if (typeof first !== 'object' || first === null || !('question' in first)) return undefined;
  return typeof first.question === 'string' ? first.question : undefined;
}

function areUnique(texts: readonly string[]): boolean {
  return new Set(texts).size === texts.length;
}
