/**
 * Step 2, the gate: the tool's own validation, then hooks, the decision (`decide.ts`), then a question.
 *
 * Any change of the input repeats these steps, so that exactly the judged input runs.
 */
import type { PermissionDecision } from '../wire/decision.ts';
import type { Invocation, ToolInput } from '../tool/invocation.ts';
import type { LocatedPath, LocatePath } from '../tool/located-path.ts';
import type { SessionContext } from '../tool/session-context.ts';
import type { CallPreview, ToolUseContext } from '../tool/tool.ts';
import { type PermissionClassifier, type Speculation, speculate } from '../permissions/classifier.ts';
import { decidePermission, type PermissionRequest } from '../permissions/decide.ts';
import {
  type CallHookServices,
  contextMessages,
  gateHooks,
  type GateHooks,
  type HookStep,
  replacedInput,
} from './call-hooks.ts';
import { type Ended, ended, failedOutcome, summariseDecision } from './outcome.ts';
import { parseInput, type ParseServices } from './parse.ts';

/** A question about a call, for those who may answer. */
export interface GateQuestion {
  /** Invocation that runs if the answer changes nothing. */
  readonly invocation: Invocation;
  /** Its observable input. */
  readonly observable: ToolInput;
  readonly decision: PermissionDecision;
  /** Version of the permission context that it was decided under. */
  readonly contextVersion: number;
  /** True if the input differs from that of the block. */
  readonly isInputChanged: boolean;
  /** Effect of the call, if its tool can compute it. */
  readonly preview?: CallPreview;
  /** Judge the same call under a newer context, after an answer that added rules. */
  rejudge(session: SessionContext): Promise<PermissionDecision>;
}

/** Outcome of a question. */
export type GateAnswer =
  | { readonly behavior: 'allow'; readonly updatedInput?: ToolInput }
  | { readonly behavior: 'deny'; readonly message: string };

/** Services of the session for the gate. */
export interface GateServices extends ParseServices, CallHookServices {
  /** Rules for calls that need two principals. */
  readonly twoPerson?: PermissionRequest['twoPerson'];
  /** Classifier of mode `auto`, asked before a person. */
  readonly classifier?: PermissionClassifier;
  /** Ask those who may answer; rejects only if the call is aborted. */
  ask(question: GateQuestion, signal: AbortSignal): Promise<GateAnswer>;
}

/** A call that may run, with the input that was judged. */
export interface Permit {
  readonly kind: 'permit';
  readonly invocation: Invocation;
  readonly decision: PermissionDecision;
  /** Locations of the invocation's `paths`, in the same order, as the decision used them. */
  readonly located: readonly LocatedPath[];
  /** True if the input differs from that of the block. */
  readonly isInputChanged: boolean;
  /** Fields that only the server sets, so that the call does what a person was shown. */
  readonly internalFields?: CallPreview['fields'];
  /** Texts that hooks add for the model. */
  readonly hookContexts?: readonly string[];
}

type HookPermission = HookStep['permission'];

/** Maximum of rounds: replacements by hooks, the tool, a person, hooks again, and one spare. */
const MAX_ROUNDS = 6;

/** A replacement of the input that was judged. */
interface Replacement {
  readonly kind: 'replace';
  readonly input: ToolInput;
  /** True if a person replaced it: it is judged, but not asked about again. */
  readonly isByPerson?: boolean;
}

/** Decision about one input. */
interface Judged {
  readonly kind: 'judged';
  readonly decision: PermissionDecision;
  readonly located: readonly LocatedPath[];
  /** Decision of the PreToolUse hooks. */
  readonly hook?: HookPermission;
  readonly internalFields?: CallPreview['fields'];
}

/** Pass an invocation through validation and permission. */
export async function gate(
  invocation: Invocation,
  context: ToolUseContext,
  services: GateServices,
): Promise<Permit | Ended> {
  const hooks = services.hooks && gateHooks(context, services);
  let current = invocation;
  let isAllowedByPerson = false;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    let step = await judge(current, context, services, hooks);
    // The tool's own change precedes the question, so that people are asked once, about what runs.
    if (step.kind === 'judged' && mustAsk(step.decision, isAllowedByPerson)) {
      step = await settle(
        { invocation: current, isInputChanged: current !== invocation },
        step,
        context,
        services,
        hooks,
      );
    }
    if (step.kind === 'end') return withContexts(step, hooks);
    if (step.kind === 'judged') return permit(invocation, current, step, hooks);
    const parsed = parseInput(current.block, current.tool, step.input, services, step.isByPerson);
    if (parsed.kind === 'end') return withContexts(parsed, hooks);
    current = parsed.invocation;
    isAllowedByPerson = step.isByPerson === true;
    if (isAllowedByPerson) hooks?.personReplaced();
  }
  const message = `Cannot run "${invocation.tool.name}": its input kept changing while it was judged`;
  return ended(failedOutcome('permission_denied', message));
}

function permit(first: Invocation, invocation: Invocation, judged: Judged, hooks: GateHooks | undefined): Permit {
  const { decision, located, internalFields } = judged;
  const isInputChanged = invocation !== first;
  return {
    kind: 'permit',
    invocation,
    decision,
    located,
    isInputChanged,
    internalFields,
    hookContexts: hooks && [...hooks.contexts],
  };
}

/** Add the texts of hooks to the end of a call. */
function withContexts(end: Ended, hooks: GateHooks | undefined): Ended {
  const newMessages = hooks && contextMessages(hooks.contexts);
  return newMessages ? ended({ ...end.outcome, newMessages, hookContexts: [...hooks.contexts] }) : end;
}

/**
 * True if a question is needed. The input of a person who allowed it needs none, unless a second approval is required.
 */
function mustAsk({ behavior, approvals }: PermissionDecision, isAllowedByPerson: boolean): boolean {
  return behavior === 'ask' && (!isAllowedByPerson || approvals !== undefined);
}

async function judge(
  invocation: Invocation,
  context: ToolUseContext,
  services: GateServices,
  hooks: GateHooks | undefined,
): Promise<Judged | Replacement | Ended> {
  const validation = await invocation.tool.validateInput?.(invocation.input, context);
  if (validation?.result === false) return ended(failedOutcome('invalid_input', validation.message));
  // Runs in parallel with the hooks.
  const speculation = services.classifier && speculate(services.classifier, invocation, context);
  try {
    return await judgeValid(invocation, context, services, { hooks, speculation });
  } finally {
    speculation?.cancel();
  }
}

async function judgeValid(
  invocation: Invocation,
  context: ToolUseContext,
  services: GateServices,
  { hooks, speculation }: { readonly hooks: GateHooks | undefined; readonly speculation: Speculation | undefined },
): Promise<Judged | Replacement | Ended> {
  const said = hooks && (await hooks.beforeDecision(invocation));
  if (said?.kind === 'end') return said;
  if (said?.replacement) return { kind: 'replace', input: said.replacement };

  const judged = await decide(invocation, context, services, { hook: said?.permission, speculation });
  const { decision } = judged;
  if (decision.behavior === 'deny') return refused(invocation, decision, decision.message);
  const input = replacedInput(decision.updatedInput, invocation, context);
  return input ? { kind: 'replace', input } : { ...judged, hook: said?.permission };
}

/** Answer a question: by hooks if their answer holds, else by those who may answer. */
async function settle(
  { invocation, isInputChanged }: { readonly invocation: Invocation; readonly isInputChanged: boolean },
  judged: Judged,
  context: ToolUseContext,
  services: GateServices,
  hooks: GateHooks | undefined,
): Promise<Judged | Replacement | Ended> {
  const said = hooks && (await hooks.beforeQuestion(invocation, judged.decision));
  if (said?.kind === 'end') return said;
  if (said?.replacement) return { kind: 'replace', input: said.replacement };
  // A hook's allow is judged like any other: it does not override a safety check.
  const allowed = said?.permission && (await decide(invocation, context, services, { hook: said.permission }));
  if (said && allowed?.decision.behavior === 'allow' && (await hooks.grant(said))) return allowed;

  const preview = await previewCall(invocation, judged.located, context);
  const answer = await services.ask(
    {
      invocation,
      observable: invocation.observable(context.session),
      decision: judged.decision,
      contextVersion: context.session.permissions.version,
      isInputChanged,
      preview,
      rejudge: async (session) =>
        (await decide(invocation, { ...context, session }, services, { hook: judged.hook })).decision,
    },
    context.signal,
  );
  if (answer.behavior === 'deny') return refused(invocation, judged.decision, answer.message);
  const input = replacedInput(answer.updatedInput, invocation, context);
  if (input) return { kind: 'replace', input, isByPerson: true };
  if (!preview) return judged;
  const now = await previewCall(invocation, judged.located, context);
  // The effect has changed since it was shown: the same input is judged and asked about again.
  return now?.key === preview.key
    ? { ...judged, internalFields: now.fields }
    : { kind: 'replace', input: invocation.input };
}

/**
 * Compute the effect of a call for a question, which is then what runs.
 *
 * @returns `undefined` if the tool cannot compute it: the question then shows only the intent.
 */
async function previewCall(
  { tool, input, analysis }: Invocation,
  located: readonly LocatedPath[],
  context: ToolUseContext,
): Promise<CallPreview | undefined> {
  if (!tool.preview) return undefined;
  try {
    return await tool.preview(input, { ...context, located, analysis });
  } catch {
    // A failed preview must not prevent the question.
    context.signal.throwIfAborted();
    return undefined;
  }
}

function refused({ tool, input }: Invocation, decision: PermissionDecision, message: string): Ended {
  const isByHook = decision.behavior === 'deny' && decision.reason.type === 'hook';
  const code = isByHook ? 'hook_blocked' : 'permission_denied';
  const decided = summariseDecision(decision);
  try {
    const display = tool.renderToolUseRejectedMessage?.(input, message);
    return ended(failedOutcome(code, message, { decided, display }));
  } catch {
    // The denial stands without its rendering.
    return ended(failedOutcome(code, message, { decided }));
  }
}

/** Compute the decision without asking anyone; `explain` shows the same decision. */
export async function decide(
  invocation: Invocation,
  context: ToolUseContext,
  services: Pick<GateServices, 'locate' | 'twoPerson' | 'classifier'>,
  { hook, speculation }: { readonly hook?: HookPermission; readonly speculation?: Speculation } = {},
): Promise<Judged> {
  const locating: Promise<LocatedPath>[] = [];
  const locate: LocatePath = (use, where) => {
    const located = services.locate(use, where);
    locating.push(located);
    return located;
  };
  const thinking = speculation ?? (services.classifier && speculate(services.classifier, invocation, context));
  const classifier = thinking && (() => thinking.answer());
  const { twoPerson } = services;
  const decision = await decidePermission({ invocation, context, locate, hook, classifier, twoPerson });
  thinking?.cancel();
  return { kind: 'judged', decision, located: await Promise.all(locating) };
}
