/**
 * Settles the ids of calls. Some providers count from zero in each turn, or send no ids: where ids are unique in their
 * turn alone, each call gets one that is unique in its session, and always the same for the same call.
 */
import { createHash } from 'node:crypto';
import { GauntletError } from '../../base/errors.ts';
import type { ToolUseBlock } from '../../wire/blocks.ts';
import type { GivenBlock, IdScope } from '../../wire/block-schema.ts';

/** Told to whoever sends an id that cannot be used. */
export const TURN_SCOPE_ADVICE =
  'where a provider counts from zero in each turn or gives no ids, send "id_scope": "turn" with a "turn_id"';

/** Characters of a digest in an id, which with its prefix fits the shortest bound of a provider, 40 characters. */
const ID_HEX_CHARS = 32;

/** A call as it was given. */
export interface GivenCall {
  /** Turn that the client named. */
  readonly turnId: string | undefined;
  /** The provider's id. */
  readonly id: string | undefined;
  /** Position among the calls of the turn, from 0: stands in for an id. */
  readonly index: number;
  /** The field of the id, for messages. */
  readonly path: string;
}

/** Return the id under which a call runs. @throws {GauntletError} `invalid_request` for a missing id or turn id */
export function scopeId(scope: IdScope, { turnId, id, index, path }: GivenCall): string {
  if (scope === 'session') {
    if (id === undefined) throw missing(path, `is required; ${TURN_SCOPE_ADVICE}`);
    return id;
  }
  if (turnId === undefined) throw missing('turn_id', 'is required where "id_scope" is "turn"');
  const digest = createHash('sha256').update(JSON.stringify([turnId, id ?? index]));
  return `call_${digest.digest('hex').slice(0, ID_HEX_CHARS)}`;
}

/** A block under its own id, and the provider's id if it is another. */
export interface ScopedBlock {
  readonly block: ToolUseBlock;
  readonly providerId?: string;
}

/** Settle the id of a block. @throws {GauntletError} as `scopeId` */
export function scopeBlock(scope: IdScope, given: GivenBlock, call: Omit<GivenCall, 'id'>): ScopedBlock {
  const id = scopeId(scope, { ...call, id: given.id });
  const block = { ...given, id };
  return scope === 'turn' && given.id !== undefined ? { block, providerId: given.id } : { block };
}

function missing(path: string, problem: string): GauntletError {
  return new GauntletError('invalid_request', `Cannot read the call: "${path}": ${problem}`, { details: { path } });
}
