/** Finds the rule that matches a call: by the tool's name, by its matcher, or by the paths it declares. */
import type { DecisionPart } from '../wire/decision.ts';
import type { Invocation } from '../tool/invocation.ts';
import type { RuleBehavior, ToolPermissionContext } from '../wire/permission-context.ts';
import type { PermissionPart } from '../tool/tool.ts';
import type { Judgement, PermissionRequest } from './judgement.ts';
import { hitPathRule, type PathQuestion, possiblePathRule } from './path-gate.ts';
import { rulesFor, rulesNamed, type SourcedRule, type ToolRules } from './rule-index.ts';
import { PATH_RULE_NAMES } from './rule-names.ts';

/**
 * Find the first deny or ask rule that matches a call.
 *
 * @param permissions Context with the rules; the session's by default.
 */
export function matchedRule(
  request: PermissionRequest,
  { matcher, paths }: Judgement,
  behavior: Exclude<RuleBehavior, 'allow'>,
  permissions = request.context.session.permissions,
): SourcedRule | undefined {
  const rules = rulesFor(permissions, behavior, request.invocation.tool);
  if (rules.bare) return rules.bare;
  const spec = rules.specs.length === 0 ? undefined : safely(() => matcher.hits(rules.specs, behavior), rules.specs[0]);
  if (spec !== undefined) return rules.bySpec.get(spec);
  return hitPathRule(pathQuestion(request, paths, permissions), behavior);
}

/** Find the first deny or ask rule that may match a call because of parts that are unknown until run time. */
export function possibleRule(
  request: PermissionRequest,
  { matcher, paths }: Judgement,
  permissions = request.context.session.permissions,
): SourcedRule | undefined {
  if (!matcher.mayHit) return undefined;
  for (const behavior of ['deny', 'ask'] as const) {
    const { specs, bySpec } = rulesFor(permissions, behavior, request.invocation.tool);
    const spec = specs.length === 0 ? undefined : safely(() => matcher.mayHit?.(specs), specs[0]);
    if (spec !== undefined) return bySpec.get(spec);
  }
  // `rm y*` may match yarn.lock.
  const written = paths.filter(({ use }) => use.access === 'write' && /[*?[]/.test(use.path));
  const found = written.length > 0 && possiblePathRule(pathQuestion(request, written, permissions));
  return found ? { rule: found.rule, source: found.source } : undefined;
}

/**
 * Describe executed text that the call does not show, if a deny or ask rule about commands may apply to it and no allow
 * rule names the program that runs it.
 */
export function opaqueText({ invocation, context }: PermissionRequest, { matcher }: Judgement): string | undefined {
  const specs = (behavior: RuleBehavior) => rulesFor(context.session.permissions, behavior, invocation.tool).specs;
  if (specs('deny').length === 0 && specs('ask').length === 0) return undefined;
  return safely(() => matcher.opaque?.(specs('allow')), 'What the input runs');
}

/** Report whether any deny or ask rule with a spec may apply to the call: one of its tool, or one about paths. */
export function hasRestrictingSpecs({ invocation, context }: PermissionRequest): boolean {
  const { permissions } = context.session;
  return (['deny', 'ask'] as const).some((behavior) =>
    rulesConcerning(permissions, behavior, invocation.tool).some(({ specs }) => specs.length > 0),
  );
}

/** Collect the rules that may apply to calls of a tool: its own, and those about paths. */
export function rulesConcerning(
  permissions: ToolPermissionContext,
  behavior: RuleBehavior,
  tool: Invocation['tool'],
): readonly ToolRules[] {
  const pathRules = Object.values(PATH_RULE_NAMES).map((name) => rulesNamed(permissions, behavior, name));
  return [rulesFor(permissions, behavior, tool), ...pathRules];
}

/** Decide about one part by itself, for `explain`. */
export function decidedPart({ invocation, context, twoPerson }: PermissionRequest, part: PermissionPart): DecisionPart {
  const { permissions } = context.session;
  const ruled = (behavior: RuleBehavior, from = permissions): DecisionPart | undefined => {
    const rules = rulesFor(from, behavior, invocation.tool);
    const hit = () => (behavior === 'allow' ? part.covers?.(rules.specs)?.[0] : part.hits?.(rules.specs, behavior));
    const spec = rules.specs.length === 0 ? undefined : safely(hit, undefined);
    const rule = rules.bare ?? (spec === undefined ? undefined : rules.bySpec.get(spec));
    return rule && { text: part.text, behavior, reason: { type: 'rule', ...rule } };
  };
  return (
    ruled('deny') ??
    (twoPerson && ruled('ask', twoPerson.permissions)) ??
    ruled('ask') ??
    ruled('allow') ?? {
      text: part.text,
      ...(part.isReadOnly
        ? { behavior: 'allow', reason: { type: 'read_only' } }
        : { behavior: 'ask', reason: { type: 'default' } }),
    }
  );
}

/** Build the query of the path gate for a call. @param permissions As for `matchedRule`. */
export function pathQuestion(
  { invocation, context }: PermissionRequest,
  paths: Judgement['paths'],
  permissions = context.session.permissions,
): PathQuestion {
  return { permissions, root: context.session.root, tool: invocation.tool, paths };
}

/**
 * Report whether the input is not understood: any deny or ask rule with a spec may apply to it, and no allow rule with
 * a spec covers it.
 */
export function isUnclear({ matcher }: Judgement): boolean {
  return safely(() => matcher.isUnparsable === true, true);
}

/** Call a tool's matcher. @param otherwise Cautious answer if it throws. */
export function safely<Value>(question: () => Value, otherwise: Value): Value {
  try {
    return question();
  } catch {
    // The tool's own error: the caller provides the cautious answer.
    return otherwise;
  }
}
