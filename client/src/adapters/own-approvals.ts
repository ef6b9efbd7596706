/**
 * Questions that the SDK asks its own person, and hands in with the call.
 */
import type { Client, ToolsOptions } from '../client.ts';
import type { Approval } from '../executor.ts';

/** Calls that wait for their person. */
const MAX_WAITING = 1_000;

/** Which tools are made, and who is asked about their calls. */
export interface AdapterOptions extends ToolsOptions {
  /** `sdk`: the SDK asks about calls that the server would ask about (`needsApproval`). Absent: `onAsk` of the client does. */
  readonly approvals?: 'sdk';
}

/** The questions of one set of tools. */
export interface OwnApprovals {
  /** True where the SDK must ask. */
  isNeeded(name: string, input: unknown, callId: string | undefined): Promise<boolean>;
  /** Take the yes to a call that the SDK runs; `undefined` where it was not asked about. */
  take(callId: string | undefined): Approval | undefined;
}

/** Create them; `undefined` where the client asks. */
export function ownApprovals(client: Client, { approvals }: AdapterOptions = {}): OwnApprovals | undefined {
  if (approvals === undefined) return undefined;
  const waiting = new Map<string, Approval>();
  return {
    async isNeeded(name, input, callId = '') {
      const { behavior, approval } = await client.explain(name, input);
      waiting.delete(callId);
      if (behavior !== 'ask') return false;
      // One that is forgotten is asked about again, by the server.
      if (waiting.size >= MAX_WAITING) waiting.clear();
      waiting.set(callId, approval);
      return true;
    },
    take(callId = '') {
      const approval = waiting.get(callId);
      waiting.delete(callId);
      return approval;
    },
  };
}
