/**
 * Types of agents: Markdown files with front matter, in folders that the operator names. The text is the agent's system
 * prompt; the front matter describes its purpose and selects from its caller's tools and permissions.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { errorMessage } from '../base/errors.ts';
import { type JsonObject, unsafeJson } from '../base/json.ts';
import { checkFrontMatter, readFrontMatter } from '../files/front-matter.ts';
import type { PermissionMode } from '../wire/permission-context.ts';
import { PERMISSION_MODES } from '../wire/permission-names.ts';

/** A type of agent. */
export interface AgentType {
  readonly name: string;
  /** Tells the model that chooses a type when to use this one. */
  readonly description: string;
  /** Its system prompt. */
  readonly prompt: string;
  /** Tools of its caller that it gets; absent: all. */
  readonly tools?: readonly string[];
  /** Tools that it does not get. */
  readonly disallowedTools?: readonly string[];
  /** Name in the settings; absent: the caller's model. */
  readonly model?: string;
  /** Highest permission mode; absent: the caller's. */
  readonly permissionMode?: PermissionMode;
  readonly maxTurns?: number;
  /** JSON Schema of its result. */
  readonly outputSchema?: JsonObject;
}

/** Agent types of all folders. */
export interface FoundAgentTypes {
  readonly types: readonly AgentType[];
  /** Files and folders that cannot be used, one sentence each. */
  readonly problems: readonly string[];
}

/** Longest description: the list of types is part of every list of tools. */
const DESCRIPTION_CHARS = 1_000;

const toolName = z
  .string()
  .regex(/^[A-Za-z_][\w-]*$/, 'expected the name of a tool; rules have their place in the settings');

/** A list of names, or one string with commas. */
const toolNames = z.preprocess(
  (value) => (typeof value === 'string' ? value.split(',').map((name) => name.trim()) : value),
  z.array(toolName).max(256),
);

const frontMatterSchema = z.strictObject({
  name: z.string().regex(/^[A-Za-z][\w-]{0,63}$/, 'expected 1 to 64 letters, digits, "_" and "-"'),
  description: z.string().trim().min(1).max(DESCRIPTION_CHARS),
  tools: toolNames.optional(),
  disallowedTools: toolNames.optional(),
  model: z.string().min(1).optional(),
  permissionMode: z.enum(PERMISSION_MODES).optional(),
  maxTurns: z.int().min(1).optional(),
  outputSchema: z
    .custom<JsonObject>((value) => typeof value === 'object' && value !== null, 'expected a schema')
    .optional(),
  // Other programs read it from such files; it has no effect here.
  color: z.string().optional(),
});

/** Types read from files. */
const MAX_TYPES = 100;

/** The file of one type. */
const MAX_TYPE_BYTES = 64 * 1_024;

/** Read all types. Of two types with one name, the first is used. Never rejects. */
export async function loadAgentTypes(folders: readonly string[]): Promise<FoundAgentTypes> {
  const types = new Map<string, AgentType>();
  const problems: string[] = [];
  for (const folder of folders) {
    const refuse = (name: string, error: unknown) =>
      problems.push(`Cannot use agent type "${join(folder, name)}": ${errorMessage(error)}`);
    try {
      const names = (await readdir(folder)).filter((name) => name.endsWith('.md')).sort();
      for (const name of names) {
        try {
          const type = await readAgentType(join(folder, name));
          if (types.has(type.name)) throw new Error(`there is another one called "${type.name}"`);
          if (types.size >= MAX_TYPES) throw new Error(`there are ${MAX_TYPES} already`);
          types.set(type.name, type);
        } catch (error) {
          refuse(name, error);
        }
      }
    } catch (error) {
      problems.push(`Cannot read the agent types of "${folder}": ${errorMessage(error)}`);
    }
  }
  return { types: [...types.values()], problems };
}

/** @throws {Error} Naming the problem. */
async function readAgentType(path: string): Promise<AgentType> {
  const { data, body } = await readFrontMatter(path, MAX_TYPE_BYTES);
  const { color: _color, ...type } = checkFrontMatter(frontMatterSchema, data);
  if (type.outputSchema && unsafeJson(type.outputSchema)) throw new Error('"outputSchema" is no plain JSON');
  if (body.trim() === '') throw new Error('it has no prompt behind its front matter');
  return { ...type, prompt: body.trim() };
}
