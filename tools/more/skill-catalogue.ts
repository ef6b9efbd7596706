/**
 * The skills of this server: folders with a SKILL.md below the folders that the operator names.
 *
 * What a skill is called and what it allows is read once, before the server listens: a file that changes later changes
 * the words of its skill and never what it may do.
 */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { errorMessage } from '../../src/base/errors.ts';
import { checkFrontMatter, type MarkdownParts, readFrontMatter } from '../../src/files/front-matter.ts';
import { realFolder } from '../../src/files/working-directories.ts';
import { parseRule } from '../../src/permissions/rule.ts';

/** A skill as it is listed. */
export interface ListedSkill {
  readonly name: string;
  /** Tells the model that chooses what the skill does and when to use it. */
  readonly description: string;
  /** Describes its arguments, as in "[issue number]". */
  readonly argumentHint?: string;
}

/** Head of a skill: everything but its text. */
export interface Skill extends ListedSkill {
  /** Rules that it brings: calls they cover need no yes. */
  readonly allowedTools: readonly string[];
  /** Models are not told of it and cannot load it. */
  readonly isHidden: boolean;
  /** Real path of its folder. */
  readonly folder: string;
}

/** Skills of all folders. */
export interface FoundSkills {
  readonly skills: readonly Skill[];
  /** Problems of skills that cannot be used, one sentence each. */
  readonly problems: readonly string[];
}

/** Skills of a server: the list of them is part of every list of tools. */
const MAX_SKILLS = 500;

/** Size of one SKILL.md. */
const MAX_SKILL_BYTES = 256 * 1_024;

const FILE_NAME = 'SKILL.md';

/** As skills of other programs have it; the list of skills is part of every list of tools. */
const MAX_DESCRIPTION_CHARS = 1_024;

/** Rules with commas between them, but for those inside brackets. */
const rules = z.preprocess(
  (value) =>
    typeof value === 'string'
      ? value
          .split(/,(?![^(]*\))/)
          .map((rule) => rule.trim())
          .filter((rule) => rule !== '')
      : value,
  z.array(z.string().transform((rule) => parseRule(rule).text)).max(100),
);

const FrontMatter = z.looseObject({
  name: z.string().regex(/^[A-Za-z0-9][\w.-]{0,63}$/, 'expected 1 to 64 letters, digits, "-", "_" and "."'),
  description: z.string().trim().min(1).max(MAX_DESCRIPTION_CHARS),
  'argument-hint': z.string().max(200).optional(),
  'allowed-tools': rules.optional(),
  'disable-model-invocation': z.boolean().optional(),
});

/** Find all skills. Of two with one name the first counts. Never rejects. */
export async function loadSkills(folders: readonly string[]): Promise<FoundSkills> {
  const skills = new Map<string, Skill>();
  const problems: string[] = [];
  for (const folder of folders) {
    try {
      for (const name of (await readdir(folder)).sort()) {
        const path = join(folder, name);
        if (!(await isSkill(path))) continue;
        try {
          const skill = await readSkill(path);
          if (skills.has(skill.name)) throw new Error(`there is another one called "${skill.name}"`);
          if (skills.size >= MAX_SKILLS) throw new Error(`there are ${MAX_SKILLS} already`);
          skills.set(skill.name, skill);
        } catch (error) {
          problems.push(`Cannot use the skill "${path}": ${errorMessage(error)}`);
        }
      }
    } catch (error) {
      problems.push(`Cannot read the skills of "${folder}": ${errorMessage(error)}`);
    }
  }
  return { skills: [...skills.values()], problems };
}

/** Read the words of a skill as they are now. @throws {Error} Saying why they cannot be read. */
export async function readSkillWords({ folder }: Pick<Skill, 'folder'>): Promise<string> {
  return (await readParts(folder)).body;
}

/** One line about a skill. */
export function skillLine({ name, description, argumentHint }: ListedSkill): string {
  const hint = argumentHint === undefined ? '' : ` ${argumentHint}`;
  return `${name}${hint}: ${description.replace(/\s+/g, ' ')}`;
}

async function readSkill(path: string): Promise<Skill> {
  const folder = realFolder(path);
  if (folder === undefined) throw new Error('it is no folder');
  const { data } = await readParts(folder);
  const { name, description, ...rest } = checkFrontMatter(FrontMatter, data);
  const argumentHint = rest['argument-hint'];
  return {
    name,
    description,
    ...(argumentHint !== undefined && { argumentHint }),
    allowedTools: rest['allowed-tools'] ?? [],
    isHidden: rest['disable-model-invocation'] ?? false,
    folder,
  };
}

function readParts(folder: string): Promise<MarkdownParts> {
  return readFrontMatter(join(folder, FILE_NAME), MAX_SKILL_BYTES, `its ${FILE_NAME}`);
}

/** A folder may hold other files and folders beside skills. */
async function isSkill(path: string): Promise<boolean> {
  try {
    await stat(join(path, FILE_NAME));
    return true;
  } catch {
    // What cannot be looked at is no skill that could be loaded.
    return false;
  }
}
