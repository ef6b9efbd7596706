/** Tests whether a rule matches a call: the `if` of a hook, with the semantics of a deny rule. */
import { matcherFor, type PermissionRequest } from './judgement.ts';
import { createPermissionContext } from './context.ts';
import { hitPathRule } from './path-gate.ts';
import { rulesFor, rulesNamed } from './rule-index.ts';
import { PATH_RULE_NAMES } from './rule-names.ts';
import { parseRule } from './rule.ts';

/** A call to test. */
export type ConditionedCall = Pick<PermissionRequest, 'invocation' | 'context' | 'locate'>;

/** Test whether a call matches. Never rejects: calls that cannot be judged match. */
export type RuleCondition = (call: ConditionedCall) => Promise<boolean>;

/**
 * Compile a rule to a condition.
 *
 * @throws {GauntletError} `invalid_request`; the message names the text and what was expected.
 */
export function ruleCondition(rule: string): RuleCondition {
  parseRule(rule);
  const permissions = createPermissionContext({
    mode: 'default',
    rules: { session: { deny: [rule] } },
    isBypassAvailable: false,
  });
  return async (call) => {
    try {
      return await matchesCall(permissions, call);
    } catch {
      // The hook may be a guard, so a call that cannot be judged must not bypass it.
      return true;
    }
  };
}

async function matchesCall(
  permissions: ReturnType<typeof createPermissionContext>,
  { invocation, context, locate }: ConditionedCall,
): Promise<boolean> {
  const { session, sessionFolder } = context;
  const { tool } = invocation;
  const rules = rulesFor(permissions, 'deny', tool);
  if (rules.bare) return true;
  const judgesPaths = Object.values(PATH_RULE_NAMES).some(
    (name) => rulesNamed(permissions, 'deny', name).specs.length > 0,
  );
  if (rules.specs.length > 0 || judgesPaths) {
    const matcher = matcherFor(invocation, session);
    // Input that is not understood may contain any path.
    if (matcher.isUnparsable === true) return true;
    if (rules.specs.length > 0 && (matcher.hits(rules.specs, 'deny') ?? matcher.mayHit?.(rules.specs)) !== undefined)
      return true;
  }
  const uses = invocation.paths ?? [];
  if (uses.length === 0) return false;
  const where = { session, sessionFolder };
  const paths = await Promise.all(uses.map(async (use) => ({ use, located: await locate(use, where) })));
  return hitPathRule({ permissions, root: session.root, tool, paths }, 'deny') !== undefined;
}
