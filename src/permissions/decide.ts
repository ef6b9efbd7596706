/**
 * The permission decision of the gate: allow, ask or deny.
 *
 * `weigh` implements the list of ARCHITECTURE, "What may run", from top to bottom; the first step that applies decides.
 * A hook may then tighten the result, or answer a plain question; where no person can be asked, a question becomes a
 * denial.
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
  /** True if no hook may answer this question: a safety check, an ask rule, or a tool that requires a person. */
  readonly isFirm?: boolean;
  /** True if an allow rule would have taken precedence, so that "always allow" helps. */
  readonly yieldsToRules?: boolean;
  readonly approvals?: number;
  /** True for a safety check and a tool that requires a person: an approval given before does not count. */
  readonly needsAnswer?: boolean;
};

/**
 * Decide about one call. Never rejects: calls that cannot be judged are asked about or denied.
 *
 * @returns `ask` means that a person must be asked; `message` is for that person, or for the model if the call is
 * denied.
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
    ...(verdict.behavior === 'ask' && verdict.needsAnswer === true && { needsAnswer: true }),
    parts: partsOf(request, matcher, verdict),
    ...(verdict.behavior === 'allow' && verdict.containment && { containment: verdict.containment }),
    updatedInput: check.behavior === 'allow' ? check.updatedInput : undefined,
  };
}

/** List the decision of each part; a single part has the decision of the whole. */
function partsOf(request: PermissionRequest, { parts }: Judgement['matcher'], { behavior, reason }: Verdict) {
  const [only, ...more] = parts ?? [];
  if (only && more.length === 0) return [{ text: only.text, behavior, reason }];
  return parts?.map((part) => decidedPart(request, part));
}

/** Apply the steps of the list and return the first result. */
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

/** Let the kernel enforce that an allowed read-only call only reads, or ask if it cannot. */
async function hold({ invocation, context }: PermissionRequest, verdict: Verdict): Promise<Verdict> {
  const { tool, input } = invocation;
  if (verdict.behavior !== 'allow' || verdict.reason.type !== 'read_only' || tool.prepareHold === undefined)
    return verdict;
  const held = await tool.prepareHold(input, context);
  if (held.kind !== 'none') return { ...verdict, containment: held.kind };
  const message = `"${tool.name}" needs approval: it only reads, but cannot be contained here: ${held.reason}`;
  return { behavior: 'ask', reason: { type: 'default' }, message, yieldsToRules: true };
}

/**
 * Ask two persons about calls that need both, unless the call is denied; no rule, mode or hook replaces one of them.
 */
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

/** Deny calls that change something in plan mode. A person is not asked, since a yes could not make them run. */
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

/** Allow reads of the session's own spilled results, in every mode. */
function ownFile({ paths, isReadOnly, failure }: Judgement): Verdict | undefined {
  const isOwn = paths.length > 0 && paths.every(({ use, located }) => use.access === 'read' && located.isSessionFile);
  if (!isOwn || !isReadOnly || failure !== undefined) return undefined;
  return { behavior: 'allow', reason: { type: 'read_only' }, message: "Reads the session's own files" };
}

function safety(request: PermissionRequest, judgement: Judgement): Verdict | undefined {
  const { tool } = request.invocation;
  const { check, paths, failure } = judgement;
  const reason = { type: 'safety_check' } as const;
  const ask = (message: string): Verdict => ({ behavior: 'ask', reason, message, isFirm: true, needsAnswer: true });
  const unsafe = paths.find(({ located }) => located.safety !== undefined);
  if (unsafe) return ask(`Writing "${unsafe.use.path}" needs a person: ${unsafe.located.safety ?? ''}`);
  if (check.behavior === 'ask' && check.isSafetyCheck) return ask(check.message);
  if (failure !== undefined) return ask(`"${tool.name}" could not judge its input: ${failure}`);
  // Input that is not understood may be exactly what a rule forbids.
  if (hasRestrictingSpecs(request) && isUnclear(judgement)) {
    const message = 'The input cannot be understood well enough to rule out what the rules forbid';
    return { behavior: 'ask', reason: { type: 'parse_error' }, message, isFirm: true, needsAnswer: true };
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
    ...ask(`Rule "${rule.rule}" may match: part of the command is known only when it runs`),
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
  return { behavior: 'ask', reason: { type: 'tool' }, message: check.message, isFirm: true, needsAnswer: true };
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

/**
 * Allow edits in mode `acceptEdits`, calls confined to the session or the sandbox, and reads inside the working
 * directories.
 */
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
  // A plugin's own claim to be contained is not trusted.
  const isContained = tool.origin === undefined && safely(() => tool.isContained?.(invocation.input), false) === true;
  if (!isContained && (!isReadOnly || !hasPaths || !readsInside)) return undefined;
  const possible = possiblePathRule(pathQuestion(request, paths));
  if (possible) {
    const { use, ...rule } = possible;
    const message = `Reading "${use.path}" needs approval: it may include what rule "${rule.rule}" matches`;
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
    return ask('parse_error', `"${tool.name}" needs approval: its input cannot be fully understood`);
  const outside = isReadOnly ? paths.find(({ located }) => !located.isInside && !located.isSessionFile) : undefined;
  if (outside)
    return ask('default', `Reading "${outside.use.path}" needs approval: it is outside the working directories`);
  return ask('default', `"${tool.name}" needs approval: no rule allows this call`);
}

/**
 * Apply the hooks' answer: a hook may always tighten the decision, but only answer a plain question, which neither a
 * rule nor a safety check asks.
 */
function withHook({ hook }: PermissionRequest, verdict: Verdict): Verdict {
  if (!hook || verdict.behavior === 'deny') return verdict;
  const message = hook.reason ?? `A hook said ${hook.behavior}`;
  if (hook.behavior === 'deny') return { behavior: 'deny', reason: { type: 'hook' }, message };
  if (hook.behavior === 'ask' && verdict.behavior === 'allow')
    return { behavior: 'ask', reason: { type: 'hook' }, message };
  const mayAllow = hook.behavior === 'allow' && verdict.behavior === 'ask' && verdict.isFirm !== true;
  return mayAllow ? { behavior: 'allow', reason: { type: 'hook' }, message } : verdict;
}

/** Resolve a question without a person: by the classifier in mode `auto`, or as a denial if no person can be asked. */
async function settle(request: PermissionRequest, judgement: Judgement, verdict: Verdict): Promise<Verdict> {
  if (verdict.behavior !== 'ask') return verdict;
  const { mode, shouldAvoidPermissionPrompts } = request.context.session.permissions;
  const classified = mode === 'auto' ? await classify(request, verdict) : undefined;
  if (classified) return classified;
  if (mode !== 'dontAsk' && !shouldAvoidPermissionPrompts) return verdict;

  const cause = mode === 'dontAsk' ? 'mode "dontAsk" does not ask' : 'no one can be asked in this session';
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
    // A failed classifier has no answer: the question goes to a person.
    return undefined;
  }
}

/** List the rules that would allow the call, as narrow as possible and never empty. */
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
