/**
 * Finds the rule for which a call needs two persons, also where the call only may turn out to be what the rule is about.
 */
import type { RuleSource, ToolPermissionContext } from '../wire/permission-context.ts';
import type { Invocation } from '../tool/invocation.ts';
import type { Judgement, PermissionRequest } from './judgement.ts';
import { isUnclear, matchedRule, pathQuestion, possibleRule, rulesConcerning, safely } from './matched-rule.ts';
import { possiblePathRule } from './path-gate.ts';
import { rulesFor, type SourcedRule } from './rule-index.ts';
import { twoPersonMessage } from './two-person.ts';

/** Why a call needs two persons. */
export interface TwoPersonQuestion {
  readonly rule: SourcedRule;
  /** Told to those who are asked, or to the model that is refused. */
  readonly message: string;
}

/** Sources of rules that the operator alone writes. */
const OPERATOR_SOURCES: ReadonlySet<RuleSource | undefined> = new Set<RuleSource>([
  'policySettings',
  'userSettings',
  'flagSettings',
  'cliArg',
]);

/** Weigh a call against the rules that want two persons. @returns undefined where none is about it. */
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
  // What cannot be understood may be exactly what a rule is about.
  if (judgement.failure !== undefined || isUnclear(judgement)) return { rule: any, message };
  const opaque = opaqueText(request, judgement);
  if (opaque === undefined) return undefined;
  return { rule: any, message: `${message}. ${opaque} cannot be seen, and may be what the rule is about` };
}

/** Text that runs unseen where no allow rule of the operator names the program: one of a session must not excuse it. */
function opaqueText({ invocation, context }: PermissionRequest, { matcher }: Judgement): string | undefined {
  const opaqueBeside = (allowed: readonly string[]) => safely(() => matcher.opaque?.(allowed), 'What the input runs');
  if (opaqueBeside([]) === undefined) return undefined;
  const { specs, bySpec } = rulesFor(context.session.permissions, 'allow', invocation.tool);
  return opaqueBeside(specs.filter((spec) => OPERATOR_SOURCES.has(bySpec.get(spec)?.source)));
}

function anyRuleFor(permissions: ToolPermissionContext, tool: Invocation['tool']): SourcedRule | undefined {
  return rulesConcerning(permissions, 'ask', tool).flatMap(({ specs, bySpec }) => bySpec.get(specs[0] ?? '') ?? [])[0];
}
