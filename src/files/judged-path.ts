/** Opens only paths that the gate judged, so that a link swapped in between has no effect. */
import { GauntletError } from '../base/errors.ts';
import type { LocatedPath, LocatePath, PathUse } from '../tool/located-path.ts';
import type { ToolUseContext } from '../tool/tool.ts';

/**
 * Return the location of a call's path as judged by the gate; located now if no gate preceded the call.
 *
 * @param index Position of `use` in the tool's `paths`.
 * @throws {GauntletError} `tool_failed` if the path may never be used.
 */
export async function judgedPath(
  locate: LocatePath,
  context: ToolUseContext,
  use: PathUse,
  index = 0,
): Promise<LocatedPath> {
  const located = context.located?.[index] ?? (await locate(use, context));
  if (located.refusal === undefined) return located;
  throw new GauntletError('tool_failed', located.refusal);
}
