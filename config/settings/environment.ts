/**
 * Environment variables come in: each one Gauntlet knows, checked and turned into a value.
 */
import * as z from 'zod';
import { allowedHost, allowedOrigin, listenHost, logLevel, portNumber, tokenText } from './door.ts';
import { checked } from './explain.ts';
import { nearestKey } from './section.ts';
import type { Environment } from './settings-file.ts';

const wholeNumber = z
  .string()
  .regex(/^\d{1,15}$/, 'must be a whole number')
  .transform(Number);
const commaList = z.string().transform((list) =>
  list
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean),
);
const flag = z.enum(['0', '1', 'false', 'true']).transform((word) => word === '1' || word === 'true');

const variables = z.object({
  GAUNTLET_HOST: listenHost.optional(),
  GAUNTLET_PORT: wholeNumber.pipe(portNumber).optional(),
  GAUNTLET_TOKEN: tokenText.optional(),
  GAUNTLET_TOKEN_FILE: z.string().optional(),
  GAUNTLET_DATA_DIR: z.string().optional(),
  GAUNTLET_WORKSPACE: z.string().optional(),
  GAUNTLET_CONFIG: z.string().optional(),
  GAUNTLET_MAX_TOOL_USE_CONCURRENCY: wholeNumber.pipe(z.int().min(1)).optional(),
  GAUNTLET_SIMPLE: flag.optional(),
  GAUNTLET_POLICY: z.string().optional(),
  GAUNTLET_ALLOWED_HOSTS: commaList.pipe(z.array(allowedHost)).optional(),
  GAUNTLET_ALLOWED_ORIGINS: commaList.pipe(z.array(allowedOrigin)).optional(),
  GAUNTLET_LOG_LEVEL: logLevel.optional(),
});

/** The variables that are set, checked. */
export type Variables = z.output<typeof variables>;

/** Set by the server itself in what it starts; a server started from a tool inherits it. */
const OWN_MARKER = 'GAUNTLET_CALL_ID';

/**
 * Check the variables. One that is set to nothing counts as not set, as container tools leave them.
 *
 * @throws {SettingsError} If one cannot be used.
 */
export function readEnvironment(environment: Environment): Variables {
  const present = Object.entries(environment).filter(([name, value]) => isOurs(name) && value !== '');
  return checked(variables, Object.fromEntries(present), '', (path) => String(path[0]));
}

/** Warnings for variables that look like ours and are not: one may be a misspelt guard. */
export function unknownVariables(environment: Environment): readonly string[] {
  const known = Object.keys(variables.shape);
  const unknown = Object.keys(environment).filter(
    (name) => isOurs(name) && name !== OWN_MARKER && !known.includes(name),
  );
  return unknown.map((name) => {
    const nearest = nearestKey(name, known);
    return `The environment variable ${name} is not known${nearest ? `; did you mean ${nearest}?` : ''}`;
  });
}

function isOurs(name: string): boolean {
  return name.startsWith('GAUNTLET_');
}
