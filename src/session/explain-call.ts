/**
 * Explains why a call would be allowed, asked about or denied, with the gate's own decision and without running it.
 */
import { decide } from '../call/gate.ts';
import { parseBlock } from '../call/parse.ts';
import { callDigest } from '../wire/approval.ts';
import { resultText } from '../wire/result-text.ts';
import type { JsonValue } from '../base/json.ts';
import { GauntletError } from '../base/errors.ts';
import { Invocation } from '../tool/invocation.ts';
import type { SessionContext } from '../tool/session-context.ts';
import { explainDecision } from '../permissions/explain.ts';
import type { WireExplanation } from '../wire/session-replies.ts';
import { hidingRule } from '../permissions/rule-index.ts';
import type { SessionCore } from './session-core.ts';
import { toolUseContext } from './turn/tool-use-context.ts';

/**
 * Explain a call under the session's current context.
 *
 * @throws {GauntletError} `invalid_request` for an unknown tool or an invalid input.
 */
export async function explainCall(core: SessionCore, name: string, input: JsonValue): Promise<WireExplanation> {
  const { context } = core;
  const { version } = context.permissions;
  return {
    ...(await explainUnder(core, context, name, input)),
    digest: callDigest(name, input),
    context_version: version,
  };
}

/** Explain a call as if the session had another context. @throws {GauntletError} As `explainCall`. */
export async function explainUnder(
  core: SessionCore,
  context: SessionContext,
  name: string,
  input: JsonValue,
): Promise<Omit<WireExplanation, 'digest' | 'context_version'>> {
  const { services } = core;
  const pool = core.poolUnder(context);
  const block = { type: 'tool_use', id: 'explain', name, input } as const;
  const hidden = pool.lookup(name) ? undefined : pool.hiddenTool(name);
  const rule = hidden?.cause === 'deny rule' ? hidingRule(context.permissions, hidden.tool) : undefined;
  if (hidden && rule) {
    const decision = { behavior: 'deny', reason: { type: 'rule', ...rule }, message: hidden.message } as const;
    return explainDecision({ ...decision, suggestions: [], warnings: [] }, new Invocation(block, hidden.tool, {}));
  }

  const parsed = parseBlock(block, { pool, schemaTool: services.schemaTool });
  if (parsed.kind === 'end') {
    const { errorCode, content } = parsed.outcome;
    const field = errorCode === 'invalid_input' ? 'input' : 'name';
    throw new GauntletError('invalid_request', resultText(content), { details: { path: field } });
  }
  const { signal } = new AbortController();
  const ids = { turnId: 'explain', toolUseId: 'explain' };
  const { decision } = await decide(
    parsed.invocation,
    toolUseContext(core, pool, {
      session: context,
      ids,
      signal,
      abortTurn: () => undefined,
      isOver: () => true,
      ask: () => Promise.reject(new GauntletError('conflict', 'Nothing is asked here')),
    }),
    services,
  );
  return explainDecision(decision, parsed.invocation);
}
