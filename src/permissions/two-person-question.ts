/** Finds the rule because of which a call needs two persons, even if the call only may match it. */
import type { RuleSource, ToolPermissionContext } from '../wire/permission-context.ts';
import type { Invocation } from '../tool/invocation.ts';
import type { Judgement, PermissionRequest } from './judgement.ts';
import { isUnclear, matchedRule, pathQuestion, possibleRule, rulesConcerning, safely } from './matched-rule.ts';
import { possiblePathRule } from './path-gate.ts';
import { rulesFor, type SourcedRule } from './rule-index.ts';
import { twoPersonMessage } from './two-person.ts';

/** A call that needs two persons. */
export interface TwoPersonQuestion {
  readonly rule: SourcedRule;
  /** Message for the persons who are asked, or the model if the call is denied. */
  readonly message: string;
}

/** Sources of rules that only the operator writes. */
const OPERATOR_SOURCES: ReadonlySet<RuleSource | undefined> = new Set<RuleSource>([
  'policySettings',
  'userSettings',
  'flagSettings',
  'cliArg',
]);

/** Match a call against the rules that need two persons. @returns undefined if none applies. */
export function twoPersonQuestion(request: PermissionRequest, judgement: Judgement): TwoPersonQuestion | undefined {
  const { twoPerson, invocation } = request;
  if (!twoPerson) return undefined;
  const { permissions, principals } = twoPerson;
  const rule =
    matchedRule(request, judgement, 'ask', permissions) ??
    possibleRule(request, judgement, permissions) ??
    possiblePathRule(pathQuestion(request, judgement.paths, permissions));
  if (rule) return { rule, message: twoPersonMessage(rule.rule, principals) };
  const any = anyRuleFor(permissions, invocation.tool);
  if (!any) return undefined;
  const message = twoPersonMessage(any.rule, principals);
  // Input that is not understood may be exactly what a rule is about.
  if (judgement.failure !== undefined || isUnclear(judgement)) return { rule: any, message };
  const opaque = opaqueText(request, judgement);
  if (opaque === undefined) return undefined;
  return { rule: any, message: `${message}. ${opaque} cannot be analysed, and the rule may match it` };
}

/**
 * Describe hidden executed text whose program no allow rule of the operator names. Allow rules of a session do not
 * count.
 */
function opaqueText({ invocation, context }: PermissionRequest, { matcher }: Judgement): string | undefined {
  const opaqueGiven = (allowed: readonly string[]) => safely(() => matcher.opaque?.(allowed), 'What the input runs');
  if (opaqueGiven([]) === undefined) return undefined;
  const { specs, bySpec } = rulesFor(context.session.permissions, 'allow', invocation.tool);
  return opaqueGiven(specs.filter((spec) => OPERATOR_SOURCES.has(bySpec.get(spec)?.source)));
}

function anyRuleFor(permissions: ToolPermissionContext, tool: Invocation['tool']): SourcedRule | undefined {
  return rulesConcerning(permissions, 'ask', tool).flatMap(({ specs, bySpec }) => bySpec.get(specs[0] ?? '') ?? [])[0];
}
