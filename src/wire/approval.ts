/**
 * Approvals that a person gave before a call was sent, as a client hands them in beside its blocks.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { JsonValue } from '../base/json.ts';
import { CallIdSchema, MAX_BATCH_BLOCKS } from './block-schema.ts';

const Approval = z.strictObject({
  tool_use_id: CallIdSchema.describe('The `id` of a block of the same request, as it was sent'),
  digest: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'expected a SHA-256 as 64 lower-case hex digits')
    .describe('Digest of the name and the input of that block, as `permissions/explain` gives it'),
  context_version: z.int().min(0).describe('Version of the permission context that the approval was given under'),
});

/** The approvals of one request. */
export type Approvals = z.output<typeof ApprovalsSchema>;
export const ApprovalsSchema = z
  .array(Approval)
  .max(MAX_BATCH_BLOCKS)
  .describe('Approvals that were given before: each counts once, as one yes of the sender to exactly this call');

/** An approval that was handed in with a call. */
export interface HandedApproval {
  /** `callDigest` of the call that it is for. */
  readonly digest: string;
  readonly contextVersion: number;
  /** Principal who gave it. */
  readonly by: string;
}

/** An approval of an accepted call. */
export interface CallApproval extends HandedApproval {
  /** Working directory of the session when the call was accepted. */
  readonly cwd: string;
}

/** Return the digest that an approval of a call names: SHA-256, in hex, of `{"input":…,"name":…}` as RFC 8785 writes it. */
export function callDigest(name: string, input: JsonValue): string {
  return createHash('sha256').update(canonicalJson({ input, name })).digest('hex');
}

/** Serialise with sorted keys and without blanks. Keys are sorted by UTF-16 code unit, as `sort` does. */
function canonicalJson(value: JsonValue): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const members = Object.entries(value as { readonly [key: string]: JsonValue });
  const texts = members
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${texts.join(',')}}`;
}
