/**
 * Approvals that were handed in with their calls. Each counts for the first question about its call, and only if nothing
 * has changed since it was given.
 */
import type { GateQuestion } from '../../call/gate.ts';
import { GauntletError } from '../../base/errors.ts';
import { newId } from '../../base/new-id.ts';
import { type Approvals, callDigest, type HandedApproval } from '../../wire/approval.ts';
import type { ToolUseBlock } from '../../wire/blocks.ts';
import type { SessionCore } from '../session-core.ts';
import type { Call } from '../turn/turn.ts';

/** The blocks of a request, and the ids that they were sent with if the server made others. */
interface SentBlocks {
  readonly blocks: readonly ToolUseBlock[];
  readonly providerIds?: ReadonlyMap<string, string>;
}

/**
 * Match the approvals of a request with its blocks.
 *
 * @param by Principal who sent them.
 * @throws {GauntletError} `invalid_request` for one that names no block, or a block that has one
 */
export function approvalsByBlock(
  approvals: Approvals | undefined,
  { blocks, providerIds }: SentBlocks,
  by: string,
): ReadonlyMap<string, HandedApproval> | undefined {
  if (approvals === undefined) return undefined;
  const found = new Map<string, HandedApproval>();
  for (const [place, approval] of approvals.entries()) {
    const { tool_use_id: asked, digest, context_version: contextVersion } = approval;
    const id = blocks.find((block) => (providerIds?.get(block.id) ?? block.id) === asked || block.id === asked)?.id;
    const path = `approvals[${place}].tool_use_id`;
    if (id === undefined) throw unusable(path, 'names no block of this request');
    if (found.has(id)) throw unusable(path, 'names a block that has an approval already; send one');
    found.set(id, { digest, contextVersion, by });
  }
  return found;
}

/**
 * Use up the approval of a call, if it has one.
 *
 * @returns The principal whose yes it is; `undefined` if it does not count for this question.
 */
export function handedInBy(core: SessionCore, call: Call, question: GateQuestion): string | undefined {
  const approval = call.takeApproval();
  if (approval === undefined || question.isInputChanged || question.decision.needsAnswer === true) return undefined;
  const { cwd, permissions } = core.context;
  const { version } = permissions;
  // The same input means something else in another folder.
  if (cwd !== approval.cwd) return undefined;
  if (question.contextVersion !== approval.contextVersion || version !== approval.contextVersion) return undefined;
  const { name, input } = question.invocation.block;
  return callDigest(name, input) === approval.digest ? approval.by : undefined;
}

/** Log a question that never had to be asked. @throws {GauntletError} `log_unavailable` */
export async function logHandedIn(core: SessionCore, call: Call, by: string): Promise<void> {
  await core.log.emit({
    type: 'permission_resolved',
    request_id: newId('ask'),
    tool_use_id: call.toolUseId,
    behavior: 'allow',
    by,
    handed_in: true,
    reason: 'Allowed: the approval was handed in with the call',
  });
}

function unusable(path: string, problem: string): GauntletError {
  return new GauntletError('invalid_request', `Cannot take the approval: "${path}": ${problem}`, { details: { path } });
}
