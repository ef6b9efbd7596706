/**
 * What to do next when a file could not be read.
 */
import type { Limits } from '../../../config/limits.ts';
import { GauntletError, isGauntletError } from '../../../src/base/errors.ts';
import type { LocatedPath } from '../../../src/tool/located-path.ts';
import type { ToolUseContext } from '../../../src/tool/tool.ts';
import { similarPath } from '../../../src/files/similar-name.ts';

/** Add to an error what the reader can do about it; any other error is handed back as it is. */
export function explainReadError(
  error: unknown,
  path: string,
  located: LocatedPath,
  context: ToolUseContext,
  limits: Limits,
): unknown {
  if (!isGauntletError(error, 'tool_failed')) return error;
  if (error.details?.reason === 'eisdir') {
    return new GauntletError(
      'tool_failed',
      `Cannot read "${path}": it is a folder. List it with Glob, or with ls in Bash`,
    );
  }
  if (error.details?.reason !== 'enoent') return error;
  const similar = located.isInside
    ? similarPath(located.real, limits.similarNames, (name) => context.isReadDenied(name))
    : undefined;
  const next =
    similar === undefined ? `The working directory is "${context.session.cwd}"` : `Did you mean "${similar}"?`;
  return new GauntletError('tool_failed', `Cannot read "${path}": it does not exist. ${next}`, {
    details: error.details,
  });
}
