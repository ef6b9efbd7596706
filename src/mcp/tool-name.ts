/** Names of MCP tools and prompts for models. */
import { createHash } from 'node:crypto';

/** Longest tool name that the model APIs accept. */
const NAME_CHARS = 64;

/** `_` and eight hex digits. */
const SUFFIX_CHARS = 9;

/**
 * Derive a name that depends only on this server and tool, and that no other pair shares.
 *
 * A plain name that would be ambiguous, altered or too long is cut, and a digest of the pair is appended.
 *
 * @param server Name of the server, as configured.
 * @param tool Name of the tool, as the server sent it.
 * @returns At most 64 characters of `[A-Za-z0-9_-]`.
 */
export function mcpToolName(server: string, tool: string): string {
  const written = `mcp__${server}__${tool}`;
  const name = written.replace(/[^A-Za-z0-9_-]/g, '_');
  const isAmbiguous = server.includes('__') || server.endsWith('_') || tool.startsWith('_');
  if (name === written && !isAmbiguous && name.length <= NAME_CHARS) return name;

  const digest = createHash('sha256')
    .update(`${server}\0${tool}`)
    .digest('hex')
    .slice(0, SUFFIX_CHARS - 1);
  return `${name.slice(0, NAME_CHARS - SUFFIX_CHARS)}_${digest}`;
}
