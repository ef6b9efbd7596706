/**
 * Lists of permission rules, wherever they stand: settings files, the command line, a trusted folder's own file.
 */
import * as z from 'zod';
import { section } from './section.ts';

const WANTED = 'must be a rule: "Tool" or "Tool(what)"';

/** Rules as people write them, no secrets: every session shows them. Whether one parses is for the permission system to say. */
export const rules = z.array(
  z.string().regex(/^[^()\s]+(\([^]*\))?$/, { error: ({ input }) => `${WANTED}; ${JSON.stringify(input)} is none` }),
);

const lists = { allow: rules.default([]), ask: rules.default([]), deny: rules.default([]) };

/** Members of a section that holds rules and the folders that count as inside. */
export const ruleShape = {
  ...lists,
  additionalDirectories: z.array(z.string().min(1, 'must not be empty')).default([]),
};

/** Rules alone, as the command line gives them. */
export const ruleLists = section(lists);

/** The settings file of a trusted folder: rules and folders, and nothing else. */
export const workspaceFileSchema = section({ permissions: section(ruleShape).optional() });
