/**
 * The decision of the gate: may this call run, or must somebody be asked?
 *
 * `weigh` is the list of ARCHITECTURE, "What may run", from top to bottom, and its first answer holds. A hook may then
 * tighten it, or answer a plain question; whoever has nobody to ask denies.
 */
import type { PermissionDecision } from '../wire/decision.ts';
import { unansweredMessage } from './denial.ts';
import { judgeCall, type Judgement, type PermissionRequest } from './judgement.ts';
import {
  decidedPart,
  hasRestrictingSpecs,
  isUnclear,
  matchedRule,
  opaqueText,
  pathQuestion,
  possibleRule,
  safely,
} from './matched-rule.ts';
import { allowingPathRule, coveringPathRule, possiblePathRule } from './path-gate.ts';
import { rulesFor } from './rule-index.ts';
import { TWO_PERSONS } from './two-person.ts';
import { twoPersonQuestion } from './two-person-question.ts';

export type { PermissionRequest } from './judgement.ts';

type Verdict = Pick<PermissionDecision, 'behavior' | 'reason' | 'message' | 'containment'> & {
  /** No hook turns this question into a yes: a safety check or an ask rule asks, or a person is required. */
  readonly isFirm?: boolean;
  /** An allow rule would have come first: what "always allow" adds would help. */
  readonly yieldsToRules?: boolean;
  readonly approvals?: number;
};

/**
 * Decide about one call. Never rejects: what cannot be judged is asked or denied.
 *
 * @returns `ask` means "before anybody is asked"; `message` is for that person, or for the model that is refused.
 */
export async function decidePermission(request: PermissionRequest): Promise<PermissionDecision> {
  const judgement = await judgeCall(request);
  const held = await hold(request, weigh(request, judgement));
  const verdict = await settle(request, judgement, withHook(request, twoPersons(request, judgement, held)));
  const { check, warnings, matcher } = judgement;
  const isHelped = verdict.yieldsToRules === true && verdict.behavior !== 'allow';
  return {
    behavior: verdict.behavior,
    reason: verdict.reason,
    message: verdict.message,
    warnings,
    suggestions: isHelped ? judgement.suggest() : [],
    ...(isHelped && { allowedBy: allowingRules(request, judgement) }),
    ...(verdict.behavior === 'ask' && verdict.approvals !== undefined && { approvals: verdict.approvals }),
    parts: partsOf(request, matcher, verdict),
    ...(verdict.behavior === 'allow' && verdict.containment && { containment: verdict.containment }),
    updatedInput: check.behavior === 'allow' ? check.updatedInput : undefined,
  };
}

/** What became of each part; a single one is the whole. */
function partsOf(request: PermissionRequest, { parts }: Judgement['matcher'], { behavior, reason }: Verdict) {
  const [only, ...more] = parts ?? [];
  if (only && more.length === 0) return [{ text: only.text, behavior, reason }];
  return parts?.map((part) => decidedPart(request, part));
}

/** The steps of the list; the first that applies. */
function weigh(request: PermissionRequest, judgement: Judgement): Verdict {
  return (
    denial(request, judgement) ??
    deniedByPlan(request, judgement) ??
    ownFile(judgement) ??
    safety(request, judgement) ??
    askedByRule(request, judgement) ??
    personRequired(request, judgement) ??
    bypassed(request) ??
    allowedByRule(request, judgement) ?? {
      ...(unasked(request, judgement) ?? question(request, judgement)),
      yieldsToRules: true,
    }
  );
}

/** What passes because it only reads is held to that by the kernel, or somebody is asked. */
async function hold({ invocation, context }: PermissionRequest, verdict: Verdict): Promise<Verdict> {
  const { tool, input } = invocation;
  if (verdict.behavior !== 'allow' || verdict.reason.type !== 'read_only' || tool.prepareHold === undefined)
    return verdict;
  const held = await tool.prepareHold(input, context);
  if (held.kind !== 'none') return { ...verdict, containment: held.kind };
  const message = `"${tool.name}" needs a yes: it only reads, but nothing can hold it to that here: ${held.reason}`;
  return { behavior: 'ask', reason: { type: 'default' }, message, yieldsToRules: true };
}

/** What needs two persons is theirs to allow, unless nobody may; no rule, mode or hook stands in for one of them. */
function twoPersons(request: PermissionRequest, judgement: Judgement, verdict: Verdict): Verdict {
  const found = verdict.behavior === 'deny' ? undefined : twoPersonQuestion(request, judgement);
  if (!found) return verdict;
  const { rule, message } = found;
  const reason = { type: 'rule', rule: rule.rule, source: rule.source } as const;
  return { behavior: 'ask', reason, message, isFirm: true, approvals: TWO_PERSONS };
}

function denial(request: PermissionRequest, judgement: Judgement): Verdict | undefined {
  const rule = matchedRule(request, judgement, 'deny');
  if (rule) return { behavior: 'deny', reason: { type: 'rule', ...rule }, message: `Denied by rule "${rule.rule}"` };
  const message = judgement.paths.find(({ located }) => located.refusal !== undefined)?.located.refusal;
  if (message === undefined) return undefined;
  return { behavior: 'deny', reason: { type: 'safety_check' }, message };
}

/** Nobody is asked about what plan mode forbids: a yes could not make it run. */
function deniedByPlan(
  { invocation, context }: PermissionRequest,
  { paths, isReadOnly }: Judgement,
): Verdict | undefined {
  const { mode } = context.session.permissions;
  if (mode !== 'plan' || invocation.touchesOnlySession) return undefined;
  if (isReadOnly && paths.every(({ use }) => use.access === 'read')) return undefined;
  const message = `Cannot use "${invocation.tool.name}" in plan mode: only reading is allowed. Leave plan mode first`;
  return { behavior: 'deny', reason: { type: 'mode', mode }, message };
}

/** A session may read its own spilled results in every mode. */
function ownFile({ paths, isReadOnly, failure }: Judgement): Verdict | undefined {
  const isOwn = paths.length > 0 && paths.every(({ use, located }) => use.access === 'read' && located.isSessionFile);
  if (!isOwn || !isReadOnly || failure !== undefined) return undefined;
  return { behavior: 'allow', reason: { type: 'read_only' }, message: "Reads the session's own files" };
}

function safety(request: PermissionRequest, judgement: Judgement): Verdict | undefined {
  const { tool } = request.invocation;
  const { check, paths, failure } = judgement;
  const reason = { type: 'safety_check' } as const;
  const ask = (message: string): Verdict => ({ behavior: 'ask', reason, message, isFirm: true });
  const unsafe = paths.find(({ located }) => located.safety !== undefined);
  if (unsafe) return ask(`Writing "${unsafe.use.path}" needs a person: ${unsafe.located.safety ?? ''}`);
  if (check.behavior === 'ask' && check.isSafetyCheck) return ask(check.message);
  if (failure !== undefined) return ask(`"${tool.name}" could not judge its input: ${failure}`);
  // What cannot be understood may be exactly what a rule forbids.
  if (hasRestrictingSpecs(request) && isUnclear(judgement)) {
    const message = 'The input cannot be understood well enough to rule out what the rules forbid';
    return { behavior: 'ask', reason: { type: 'parse_error' }, message, isFirm: true };
  }
  const rule = possibleRule(request, judgement);
  const opaque = rule ? undefined : opaqueText(request, judgement);
  if (opaque !== undefined)
    return {
      ...ask(`${opaque} cannot be seen, and may be what a rule forbids`),
      yieldsToRules: judgement.suggest().length > 0,
    };
  if (!rule) return undefined;
  return {
    ...ask(`It may turn out to be what rule "${rule.rule}" is about: part of it is known only when it runs`),
    reason: { type: 'rule', ...rule },
  };
}

function askedByRule(request: PermissionRequest, judgement: Judgement): Verdict | undefined {
  const rule = matchedRule(request, judgement, 'ask');
  if (!rule) return undefined;
  return {
    behavior: 'ask',
    reason: { type: 'rule', ...rule },
    message: `Rule "${rule.rule}" asks first`,
    isFirm: true,
  };
}

function personRequired(_request: PermissionRequest, { check }: Judgement): Verdict | undefined {
  if (check.behavior === 'deny') return { behavior: 'deny', reason: { type: 'tool' }, message: check.message };
  if (check.behavior !== 'ask' || !check.isRequired) return undefined;
  return { behavior: 'ask', reason: { type: 'tool' }, message: check.message, isFirm: true };
}

function bypassed({ context }: PermissionRequest): Verdict | undefined {
  const { mode, isBypassAvailable } = context.session.permissions;
  if (mode === 'bypassPermissions' && isBypassAvailable) {
    return { behavior: 'allow', reason: { type: 'mode', mode }, message: `Allowed by mode "${mode}"` };
  }
  return undefined;
}

function allowedByRule(request: PermissionRequest, judgement: Judgement): Verdict | undefined {
  const { matcher, paths } = judgement;
  const { context, invocation } = request;
  const { tool } = invocation;
  const rules = rulesFor(context.session.permissions, 'allow', tool);
  const isJudgeable = !rules.bare && rules.specs.length > 0 && !isUnclear(judgement);
  const specs = isJudgeable ? safely(() => matcher.covers(rules.specs), undefined) : undefined;
  const covering = specs?.[0];
  const rule =
    rules.bare ??
    (covering === undefined ? undefined : rules.bySpec.get(covering)) ??
    (tool.preparePermissionMatcher ? undefined : coveringPathRule(pathQuestion(request, paths)));
  return rule && { behavior: 'allow', reason: { type: 'rule', ...rule }, message: `Allowed by rule "${rule.rule}"` };
}

/** Edits in mode `acceptEdits`, what stays in the session or in the sandbox, and what only reads inside. */
function unasked(request: PermissionRequest, judgement: Judgement): Verdict | undefined {
  const { context, invocation } = request;
  const { tool } = invocation;
  const { check, paths, hasPaths, isReadOnly } = judgement;
  const { mode } = context.session.permissions;
  if (check.behavior === 'ask' || tool.origin?.type === 'mcp') return undefined;
  const isInside = paths.every(({ located }) => located.isInside);
  if (mode === 'acceptEdits' && tool.isFileEdit && paths.length > 0 && isInside) {
    return { behavior: 'allow', reason: { type: 'mode', mode }, message: `Allowed by mode "${mode}"` };
  }
  if (invocation.touchesOnlySession) {
    return { behavior: 'allow', reason: { type: 'tool' }, message: 'Changes nothing outside the session' };
  }
  const readsInside = paths.every(
    ({ use, located }) => use.access === 'read' && (located.isInside || located.isSessionFile),
  );
  // What a plugin says of itself is no containment.
  const isContained = tool.origin === undefined && safely(() => tool.isContained?.(invocation.input), false) === true;
  if (!isContained && (!isReadOnly || !hasPaths || !readsInside)) return undefined;
  const possible = possiblePathRule(pathQuestion(request, paths));
  if (possible) {
    const { use, ...rule } = possible;
    const message = `Reading "${use.path}" needs a yes: what rule "${rule.rule}" is about may be among it`;
    return { behavior: 'ask', reason: { type: 'rule', ...rule }, message, isFirm: true };
  }
  if (isContained) return { behavior: 'allow', reason: { type: 'mode' }, message: 'Runs in the sandbox' };
  return { behavior: 'allow', reason: { type: 'read_only' }, message: 'Only reads, inside the working directories' };
}

function question({ invocation: { tool } }: PermissionRequest, judgement: Judgement): Verdict {
  const { check, paths, isReadOnly } = judgement;
  const ask = (type: 'tool' | 'parse_error' | 'default', message: string): Verdict => ({
    behavior: 'ask',
    reason: { type },
    message,
  });
  if (check.behavior === 'ask') return ask('tool', check.message);
  if (isUnclear(judgement))
    return ask('parse_error', `"${tool.name}" needs a yes: its input cannot be fully understood`);
  const outside = isReadOnly ? paths.find(({ located }) => !located.isInside && !located.isSessionFile) : undefined;
  if (outside)
    return ask('default', `Reading "${outside.use.path}" needs a yes: it is outside the working directories`);
  return ask('default', `"${tool.name}" needs a yes: no rule allows this call`);
}

/** A hook tightens whatever it likes, and answers a plain question: one that no rule and no safety check asks. */
function withHook({ hook }: PermissionRequest, verdict: Verdict): Verdict {
  if (!hook || verdict.behavior === 'deny') return verdict;
  const message = hook.reason ?? `A hook said ${hook.behavior}`;
  if (hook.behavior === 'deny') return { behavior: 'deny', reason: { type: 'hook' }, message };
  if (hook.behavior === 'ask' && verdict.behavior === 'allow')
    return { behavior: 'ask', reason: { type: 'hook' }, message };
  const mayAllow = hook.behavior === 'allow' && verdict.behavior === 'ask' && verdict.isFirm !== true;
  return mayAllow ? { behavior: 'allow', reason: { type: 'hook' }, message } : verdict;
}

/** Mode `auto` puts a plain question to the classifier; whoever has nobody to ask turns it into a no. */
async function settle(request: PermissionRequest, judgement: Judgement, verdict: Verdict): Promise<Verdict> {
  if (verdict.behavior !== 'ask') return verdict;
  const { mode, shouldAvoidPermissionPrompts } = request.context.session.permissions;
  const classified = mode === 'auto' ? await classify(request, verdict) : undefined;
  if (classified) return classified;
  if (mode !== 'dontAsk' && !shouldAvoidPermissionPrompts) return verdict;

  const cause = mode === 'dontAsk' ? 'mode "dontAsk" asks nobody' : 'this session has nobody to ask';
  const allowedBy = verdict.yieldsToRules === true ? allowingRules(request, judgement) : [];
  const message = unansweredMessage({ message: verdict.message, allowedBy }, cause);
  const reason =
    mode === 'dontAsk' && verdict.reason.type === 'default' ? { type: 'mode' as const, mode } : verdict.reason;
  return { ...verdict, behavior: 'deny', reason, message };
}

async function classify(request: PermissionRequest, verdict: Verdict): Promise<Verdict | undefined> {
  const isPlain = verdict.reason.type === 'default' || verdict.reason.type === 'parse_error';
  if (!request.classifier || !isPlain || verdict.isFirm === true) return undefined;
  try {
    if (request.invocation.tool.toAutoClassifierInput(request.invocation.input) === '') return undefined;
    const behavior = await request.classifier(request);
    if (behavior !== 'allow' && behavior !== 'deny') return undefined;
    const message = behavior === 'allow' ? 'Allowed by the classifier' : 'Denied by the classifier of mode "auto"';
    return { ...verdict, behavior, reason: { type: 'classifier' }, message };
  } catch {
    // A classifier that fails has said nothing: the question goes to a person.
    return undefined;
  }
}

/** The rules that would allow the call: as narrow as is known, and never none. */
function allowingRules(
  { invocation: { tool }, context }: PermissionRequest,
  { paths, suggest }: Judgement,
): readonly string[] {
  const suggested = suggest().flatMap((update) =>
    update.type === 'addRules' && update.behavior === 'allow' ? update.rules : [],
  );
  if (suggested.length > 0) return suggested;
  const judged = tool.preparePermissionMatcher ? [] : paths.filter(({ located }) => !located.isSessionFile);
  return judged.length > 0 ? judged.map((path) => allowingPathRule(path, context.session.root)) : [tool.name];
}
