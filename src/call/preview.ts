/**
 * What a call would do, for the person who is asked: the tool works it out, and what was shown is what runs.
 */
import type { LocatedPath } from '../contract/located-path.ts';
import type { CallPreview, ToolUseContext } from '../contract/tool.ts';
import type { ParsedCall } from './parse.ts';

/** Preview a call. @returns undefined where the tool cannot tell: the question then shows the intent alone. */
export async function previewCall(
  { tool, input }: ParsedCall,
  located: readonly LocatedPath[],
  context: ToolUseContext,
): Promise<CallPreview | undefined> {
  if (!tool.preview) return undefined;
  try {
    return await tool.preview(input, { ...context, located });
  } catch {
    // A picture that fails must not stop the question it is for.
    context.signal.throwIfAborted();
    return undefined;
  }
}
