/**
 * Reads back a call whose result is on disk: its block, for comparison with another, and its summary.
 */
import type { ToolUseBlock } from '../../wire/blocks.ts';
import { GauntletError } from '../../base/errors.ts';
import { loggedFrame } from '../turn/logged-frame.ts';
import type { Call } from '../turn/turn.ts';
import type { SessionCore } from '../session-core.ts';

/**
 * Return the block as it was accepted, and restore the summary of a recalled call.
 *
 * @throws {GauntletError} `gone` if retention deleted the frames: the id is known, but not its content.
 */
export async function recalledBlock(core: SessionCore, call: Call): Promise<ToolUseBlock> {
  const { toolUseId, acceptedSeq = 0, resultSeq = 0 } = call;
  const accepted = (await loggedFrame(core, acceptedSeq))?.frame;
  if (accepted?.type !== 'tool_use' || accepted.tool_use.id !== toolUseId) throw noLongerKept(toolUseId);
  if (!call.summary) {
    const result = (await loggedFrame(core, resultSeq))?.frame;
    if (result?.type !== 'result' || result.tool_use_id !== toolUseId) throw noLongerKept(toolUseId);
    call.recall(result.call);
  }
  return accepted.tool_use;
}

/** Error for a call whose frames were deleted. It does not run again. */
export function noLongerKept(toolUseId: string): GauntletError {
  return new GauntletError('gone', `What call "${toolUseId}" came to is no longer kept. To run it again use a new id`, {
    details: { reason: 'retention', tool_use_id: toolUseId },
  });
}
