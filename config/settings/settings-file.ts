/**
 * A settings file comes in: one regular file of bounded size, JSON with comments, variables filled in.
 */
import { parse, printParseErrorCode, visit } from 'jsonc-parser';
import { SETTINGS_DEPTH } from '../limits.ts';
import { SettingsError } from '../settings-error.ts';
import { readRegularFile } from './regular-file.ts';

/** Variables by name, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Read and parse a settings file.
 *
 * @param key Who names the file (`GAUNTLET_CONFIG`), for the error.
 * @param path Absolute. Links are followed: mounted secrets and config maps are links.
 * @param environment Where `${NAME}` in a string comes from.
 * @returns The parsed value, or undefined when there is no such file.
 * @throws {SettingsError} If it is no regular file, too large, no JSON, or names a variable that is not set.
 */
export function readSettingsFile(key: string, path: string, environment: Environment): unknown {
  const text = readRegularFile(key, path);
  return text === undefined ? undefined : expand(parseSettingsText(key, path, text), '', environment);
}

/** Entries of MCP servers, whose variables are filled in one by one: a missing one fails its server alone. */
const MCP_SERVERS = /^(?:mcpServers|servers|mcp_servers|inputs)$/;

/**
 * JSON with comments and trailing commas. A key given twice is refused: the lost one may be a deny rule.
 *
 * @throws {SettingsError} With the line and what is wrong there.
 */
export function parseSettingsText(key: string, path: string, text: string): unknown {
  const seen: Set<string>[] = [];
  let depth = 0;
  const refuse = (offset: number, why: string): never => {
    const line = text.slice(0, offset).split('\n').length;
    throw new SettingsError(key, `${key}: "${path}" line ${line}: ${why}`);
  };
  const open = (offset: number): void => {
    if (++depth > SETTINGS_DEPTH) refuse(offset, `nested deeper than ${SETTINGS_DEPTH}; flatten it`);
  };
  const options = { allowTrailingComma: true };
  visit(
    text,
    {
      onObjectBegin: (offset) => {
        open(offset);
        seen.push(new Set());
      },
      onObjectEnd: () => {
        depth--;
        seen.pop();
      },
      onArrayBegin: open,
      onArrayEnd: () => {
        depth--;
      },
      onObjectProperty: (name, offset) => {
        // Set by assignment in the parser, it would become the object's prototype.
        if (name === '__proto__') refuse(offset, 'the key "__proto__" is not allowed; remove it');
        if (seen.at(-1)?.has(name)) refuse(offset, `the key "${name}" appears twice; keep one`);
        seen.at(-1)?.add(name);
      },
      onError: (error, offset) => refuse(offset, `not valid JSON (${printParseErrorCode(error)}); mend it`),
    },
    options,
  );
  return parse(text, [], options);
}

/** Fill `${NAME}` into every string below `value`. */
function expand(value: unknown, path: string, environment: Environment): unknown {
  if (typeof value === 'string') return expandString(value, path, environment);
  if (Array.isArray(value) && !MCP_SERVERS.test(path))
    return value.map((item, index) => expand(item, `${path}.${index}`, environment));
  if (typeof value !== 'object' || value === null || MCP_SERVERS.test(path)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, expand(member, path ? `${path}.${key}` : key, environment)]),
  );
}

function expandString(text: string, path: string, environment: Environment): string {
  return text.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
    const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
    if (value === undefined) {
      throw new SettingsError(
        path,
        `${path}: the environment variable ${name} is not set; set it, or remove "\${${name}}"`,
      );
    }
    return value;
  });
}
