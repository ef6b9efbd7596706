/**
 * Converts a question of the gate to an elicitation of an MCP client, and what comes back to an answer.
 *
 * Whatever is not a clear yes is a no.
 */
import type { ElicitRequestFormParams, PrimitiveSchemaDefinition } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { cutText } from '../../src/base/cut-text.ts';
import type { JsonObject } from '../../src/base/json.ts';
import type { PromptAnswer } from '../../src/session/questions/answer.ts';
import type { Display, DisplayBlock, DisplayForm, FormField } from '../../src/wire/display.ts';
import type { PermissionRequestFrame } from '../../src/wire/frames.ts';

/** Longest message of an elicitation, in characters. */
const MAX_MESSAGE_CHARS = 8_000;

/** Longest answer in words, in characters, as of an answer over HTTP. */
const MAX_WORDS_CHARS = 10_000;

/** Result of an elicitation, as the client sent it. */
const Elicited = z.object({
  action: z.enum(['accept', 'decline', 'cancel']),
  content: z.record(z.string(), z.unknown()).nullish(),
});

/** A question as an elicitation. */
export function toElicitation(question: PermissionRequestFrame): ElicitRequestFormParams {
  const form = formOf(question.display);
  const requestedSchema = form ? formSchema(form) : decisionSchema(question);
  return { mode: 'form', message: messageOf(question), requestedSchema };
}

/** Convert what the client sent back. */
export function toPromptAnswer(question: PermissionRequestFrame, sent: unknown): PromptAnswer {
  const parsed = Elicited.safeParse(sent);
  if (!parsed.success) return { behavior: 'deny', message: 'The client sent no answer that can be read' };
  const { action, content } = parsed.data;
  if (action === 'cancel') return { behavior: 'deny', message: 'The person closed the question without an answer' };
  if (action === 'decline') return { behavior: 'deny' };
  const form = formOf(question.display);
  return form ? formAnswer(form, question, content ?? {}) : decisionAnswer(question, content ?? {});
}

function decisionSchema({
  suggestions,
  approvals,
}: PermissionRequestFrame): ElicitRequestFormParams['requestedSchema'] {
  const rules = suggestions.flatMap((update) => ('rules' in update ? update.rules : []));
  // One of several approvals cannot change what the session may do.
  const mayAllowAlways = suggestions.length > 0 && approvals === undefined;
  const always = { const: 'allow_always', title: `Allow, and do not ask again: ${rules.join(', ') || 'as suggested'}` };
  const decision: PrimitiveSchemaDefinition = {
    type: 'string',
    title: 'Decision',
    oneOf: [
      { const: 'allow', title: 'Allow once' },
      ...(mayAllowAlways ? [always] : []),
      { const: 'deny', title: 'Deny' },
    ],
  };
  const message: PrimitiveSchemaDefinition = {
    type: 'string',
    title: 'Message',
    description: 'Told to the model where you deny',
    maxLength: MAX_WORDS_CHARS,
  };
  return { type: 'object', properties: { decision, message }, required: ['decision'] };
}

function decisionAnswer(
  { suggestions, approvals }: PermissionRequestFrame,
  { decision, message }: Readonly<Record<string, unknown>>,
): PromptAnswer {
  if (decision === 'allow') return { behavior: 'allow' };
  if (decision === 'allow_always' && approvals === undefined)
    return { behavior: 'allow', updatedPermissions: suggestions };
  const words = typeof message === 'string' ? message.slice(0, MAX_WORDS_CHARS) : '';
  return { behavior: 'deny', ...(words !== '' && { message: words }) };
}

/** Names of a form's properties are made here: those of its fields may be whole sentences. */
const propertyName = (index: number): string => `answer_${index + 1}`;
const otherName = (index: number): string => `${propertyName(index)}_other`;

function formSchema({ fields }: DisplayForm): ElicitRequestFormParams['requestedSchema'] {
  const properties: Record<string, PrimitiveSchemaDefinition> = {};
  const required: string[] = [];
  for (const [index, field] of fields.entries()) {
    const name = propertyName(index);
    properties[name] = fieldSchema(field);
    if (field.type === 'choice' && field.other === true) {
      const title = `${field.label} (in your own words)`;
      properties[otherName(index)] = { type: 'string', title, maxLength: MAX_WORDS_CHARS };
    } else if (field.required === true) required.push(name);
  }
  return { type: 'object', properties, required };
}

function fieldSchema(field: FormField): PrimitiveSchemaDefinition {
  const { label: title, description, value } = field;
  const about = { title, ...(description !== undefined && { description }) };
  switch (field.type) {
    case 'number':
      return { type: 'number', ...about, ...(typeof value === 'number' && { default: value }) };
    case 'boolean':
      return { type: 'boolean', ...about, ...(typeof value === 'boolean' && { default: value }) };
    case 'text':
      return { type: 'string', ...about, ...(typeof value === 'string' && { default: value }) };
    case 'choice': {
      const choices = (field.choices ?? []).map((choice) => ({
        const: choice.value,
        title: [choice.label, choice.description].filter(Boolean).join(': '),
      }));
      if (field.multiple === true) return { type: 'array', ...about, items: { anyOf: choices } };
      return { type: 'string', ...about, oneOf: choices };
    }
  }
}

function formAnswer(
  { key, fields }: DisplayForm,
  question: PermissionRequestFrame,
  content: Readonly<Record<string, unknown>>,
): PromptAnswer {
  const values: Record<string, unknown> = {};
  for (const [index, field] of fields.entries()) {
    const own = content[otherName(index)];
    const value =
      typeof own === 'string' && own.trim() !== ''
        ? ownWords(field, own, content[propertyName(index)])
        : content[propertyName(index)];
    if (value !== undefined && value !== '') values[field.name] = value;
  }
  return { behavior: 'allow', updatedInput: { ...(question.input as JsonObject), [key]: values } };
}

/** Words of the person's own take the place of one choice, and stand beside several. */
function ownWords(field: FormField, own: string, chosen: unknown): string | readonly unknown[] {
  if (field.multiple !== true) return own;
  const others = Array.isArray(chosen) ? chosen.filter((choice) => choice !== 'Other') : [];
  return [...(others as readonly unknown[]), own];
}

function formOf({ blocks }: Display): DisplayForm | undefined {
  return blocks.find((block) => block.kind === 'form');
}

/** Everything that a person has to see: why it is asked, what the call does, and what is dangerous about it. */
function messageOf({ title, tool_name, description, display, input, warnings }: PermissionRequestFrame): string {
  const drawn = display.blocks.flatMap(blockText);
  const shown = drawn.length > 0 || formOf(display) ? drawn : [JSON.stringify(input, undefined, 2)];
  const head = [display.title, display.subtitle].filter(Boolean).join(' ');
  const lines = [title, `${tool_name}: ${description ?? head}`, ...(description === undefined ? [] : [head])];
  const text = [...lines, ...warnings.map((warning) => `Warning: ${warning}`), ...shown].join('\n');
  if (text.length <= MAX_MESSAGE_CHARS) return text;
  const left = text.length - MAX_MESSAGE_CHARS;
  return `${cutText(text, MAX_MESSAGE_CHARS)}\n[cut: ${left} more characters. GET /sessions/{id}/prompts shows the whole question]`;
}

function blockText(block: DisplayBlock): readonly string[] {
  switch (block.kind) {
    case 'text':
    case 'code':
      return [block.text];
    case 'diff':
      return [block.path, ...block.hunks.flatMap(({ lines }) => lines)];
    case 'list':
      return block.items.map((item) => `- ${item}`);
    case 'table':
      return block.rows.map((row) => row.join(' | '));
    case 'link':
      return [`${block.text} ${block.href}`];
    case 'progress':
      return [block.label];
    case 'image':
    case 'form':
      return [];
  }
}
