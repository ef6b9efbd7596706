/**
 * The path a tool may open: the one the gate judged, so that a link swapped in between opens nothing.
 */
import { GauntletError } from '../base/errors.ts';
import type { LocatedPath, LocatePath, PathUse } from '../tool/located-path.ts';
import type { ToolUseContext } from '../tool/tool.ts';

/**
 * Where a call's path lies, as the gate saw it; located afresh where no gate stood before the call.
 *
 * @param index Position of `use` in what the tool's `paths` answered.
 * @throws {GauntletError} `tool_failed` when the path may never be used.
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
