/**
 * What people see of a block while it still streams in.
 */
import type { JsonValue } from '../../base/json.ts';
import type { InputPartialFrame } from '../../wire/frames.ts';
import type { SessionCore } from '../session-core.ts';
import { drawIntent } from '../turn/drawn.ts';
import { parsePartialObject } from './partial-json.ts';
import type { StreamingBlock } from './stream-assembler.ts';

/** A block on its way, and the place it will have. */
export interface PartialBlock {
  readonly turnId: string;
  /** Counts the `tool_use` blocks of the turn, from 0. */
  readonly index: number;
  readonly block: StreamingBlock;
}

/** The `input_partial` frame of a block as far as it has come; what cannot be read of its JSON is left out. */
export function inputPartial(
  { pool, services }: SessionCore,
  { turnId, index, block }: PartialBlock,
): InputPartialFrame {
  const partial_input = parsePartialObject(block.text, services.limits);
  return {
    type: 'input_partial',
    turn_id: turnId,
    index,
    tool_use_id: block.id,
    name: block.name,
    partial_input,
    display: drawIntent(pool.lookup(block.name), block.name, partial_input as JsonValue),
  };
}
