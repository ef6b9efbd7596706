/**
 * Markdown files that begin with front matter: YAML between two lines `---`.
 */
import { readFile, stat } from 'node:fs/promises';
import type * as z from 'zod';
import { checkFields } from '../wire/field-issues.ts';

const FRONT_MATTER = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n([\s\S]*))?$/;

/** The parts of a file. */
export interface MarkdownParts {
  /** Parsed front matter. */
  readonly data: unknown;
  /** The text behind it. */
  readonly body: string;
}

/**
 * Read a file with front matter.
 *
 * @param subject Names the file in errors, as in "it" or "its SKILL.md".
 * @throws {Error} If it is not a regular file, is too large, or does not begin with valid front matter.
 */
export async function readFrontMatter(path: string, maxBytes: number, subject = 'it'): Promise<MarkdownParts> {
  const found = await stat(path);
  // Reading a pipe or a device would never end.
  if (!found.isFile()) throw new Error(`${subject} is no file`);
  if (found.size > maxBytes) throw new Error(`${subject} has more than ${maxBytes} bytes`);
  const [, head, body = ''] = FRONT_MATTER.exec(await readFile(path, 'utf8')) ?? [];
  if (head === undefined) throw new Error('it does not begin with front matter between two lines "---"');
  // Loaded here, because most servers have no such files.
  const { parse } = await import('yaml');
  // An alias can stand for a thousand others.
  return { data: parse(head, { schema: 'core', maxAliasCount: 0, uniqueKeys: true }), body };
}

/** Check front matter against a schema. @throws {Error} Naming the first field that does not fit. */
export function checkFrontMatter<Schema extends z.ZodType>(schema: Schema, data: unknown): z.output<Schema> {
  const check = checkFields(schema, data);
  if (check.kind === 'fits') return check.value;
  const [issue] = check.issues;
  throw new Error(`"${issue?.path ?? ''}" ${issue?.message ?? 'is wrong'}`);
}
