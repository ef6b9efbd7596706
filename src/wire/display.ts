/**
 * Content that a client draws, as data (PROTOCOL section 6).
 *
 * Tools return it from their `render` methods. Every text is plain text; a client never runs it as HTML.
 */
import * as z from 'zod';
import { Count, Texts } from './values.ts';
import type { Wire } from './wire-type.ts';

/** One changed region of a file, in unified-diff terms. */
export type DiffHunk = Wire<typeof DiffHunk>;
export const DiffHunk = z.object({
  old_start: Count,
  old_lines: Count,
  new_start: Count,
  new_lines: Count,
  lines: Texts.describe('Each begins with a blank, `+`, `-` or `\\`'),
});

/** One field of a form. */
export type FormField = Wire<typeof FormField>;
export const FormField = z.object({
  name: z.string().describe('Key of its value in the answer'),
  label: z.string(),
  description: z.string().optional(),
  type: z.enum(['text', 'number', 'boolean', 'choice']),
  choices: z
    .array(
      z.object({
        value: z.string(),
        label: z.string(),
        description: z.string().optional(),
        preview: z.string().optional().describe('A longer text, such as a draft, shown beside the choice'),
      }),
    )
    .optional()
    .describe('Values of a field of type `choice`'),
  multiple: z.boolean().optional().describe('Several choices may be made, and the value is a list'),
  other: z.boolean().optional().describe('Any other text is accepted as an answer too'),
  required: z.boolean().optional(),
  value: z
    .union([z.string(), z.number(), z.boolean(), Texts])
    .optional()
    .describe('The value that the field begins with'),
});

/** Fields that a question asks for beside yes and no. */
export type DisplayForm = Wire<typeof DisplayForm>;
export const DisplayForm = z
  .object({ kind: z.literal('form'), key: z.string(), fields: z.array(FormField) })
  .describe("The answer is `updated_input`: the input of the call with an object of the fields' values under `key`");

/** One thing to draw. */
export type DisplayBlock = Wire<typeof DisplayBlock>;
export const DisplayBlock = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('text'), text: z.string() }),
  z.object({ kind: z.literal('code'), text: z.string(), language: z.string().optional() }),
  z.object({ kind: z.literal('diff'), path: z.string(), hunks: z.array(DiffHunk) }),
  z.object({ kind: z.literal('list'), items: Texts }),
  z.object({ kind: z.literal('table'), columns: Texts, rows: z.array(Texts) }),
  z.object({ kind: z.literal('image'), media_type: z.string(), data: z.string().describe('Base64') }),
  z.object({ kind: z.literal('link'), href: z.string(), text: z.string() }),
  z.object({ kind: z.literal('progress'), label: z.string(), value: z.number().optional() }),
  DisplayForm,
]);

/** A drawn call, progress, result or question. */
export type Display = Wire<typeof Display>;
export const Display = z
  .object({
    title: z.string(),
    subtitle: z.string().optional(),
    tone: z.enum(['info', 'success', 'warning', 'danger']).optional(),
    blocks: z.array(DisplayBlock),
    group: z
      .object({ key: z.string(), title: z.string() })
      .optional()
      .describe('Calls that share a group may be drawn as one'),
  })
  .describe('What a client draws. All texts are plain text, never HTML');
