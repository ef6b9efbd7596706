/**
 * A call whose result is on disk, read back: its block to compare another with, and its summary.
 */
import type { ToolUseBlock } from '../../wire/blocks.ts';
import { GauntletError } from '../../base/errors.ts';
import type { CallRecord } from '../call-record.ts';
import { loggedFrame } from '../turn/logged-frame.ts';
import type { SessionCore } from '../session-core.ts';

/**
 * The block as it was accepted; a record that was recalled gets its summary back with it.
 *
 * @throws {GauntletError} `gone` where retention took the frames: the id is known, and what it was is not.
 */
export async function recalledBlock(core: SessionCore, record: CallRecord): Promise<ToolUseBlock> {
  const { toolUseId, acceptedSeq = 0, resultSeq = 0 } = record;
  const accepted = (await loggedFrame(core, acceptedSeq))?.frame;
  if (accepted?.type !== 'tool_use' || accepted.tool_use.id !== toolUseId) throw noLongerKept(toolUseId);
  if (!record.summary) {
    const result = (await loggedFrame(core, resultSeq))?.frame;
    if (result?.type !== 'result' || result.tool_use_id !== toolUseId) throw noLongerKept(toolUseId);
    record.summary = result.call;
  }
  return accepted.tool_use;
}

/** What is said of a call whose frames are gone. It does not run again. */
export function noLongerKept(toolUseId: string): GauntletError {
  return new GauntletError('gone', `What call "${toolUseId}" came to is no longer kept. To run it again use a new id`, {
    details: { reason: 'retention', tool_use_id: toolUseId },
  });
}
