/**
 * Step 2: may it run? The tool's own validation, then hooks, the decision (`decide.ts`), then a person.
 *
 * Whatever changes the input on the way sends it round again: what runs is what was judged.
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

/** A question about a call, for whoever may answer. */
export interface GateQuestion {
  /** What runs if the answer changes nothing. */
  readonly invocation: Invocation;
  /** Its input as people see it. */
  readonly observable: ToolInput;
  readonly decision: PermissionDecision;
  /** What the call would do, where its tool can tell. */
  readonly preview?: CallPreview;
  /** The same call under a newer context: an answer that adds rules is tried on the others that wait. */
  rejudge(session: SessionContext): Promise<PermissionDecision>;
}

/** How a question ended. */
export type GateAnswer =
  | { readonly behavior: 'allow'; readonly updatedInput?: ToolInput }
  | { readonly behavior: 'deny'; readonly message: string };

/** What the gate needs of its session. */
export interface GateServices extends ParseServices, CallHookServices {
  /** Calls that need the yes of two principals. */
  readonly twoPerson?: PermissionRequest['twoPerson'];
  /** What mode `auto` asks before a person. */
  readonly classifier?: PermissionClassifier;
  /** Ask whoever may answer; rejects only when the call is aborted. */
  ask(question: GateQuestion, signal: AbortSignal): Promise<GateAnswer>;
}

/** A call that may run, with the input that was judged. */
export interface Permit {
  readonly kind: 'permit';
  readonly invocation: Invocation;
  readonly decision: PermissionDecision;
  /** Where the invocation's `paths` lie, in their order, as the decision saw them. */
  readonly located: readonly LocatedPath[];
  /** True when the input is not the one the block came with. */
  readonly isInputChanged: boolean;
  /** Fields that only the server sets: the call does what a person was shown. */
  readonly internalFields?: CallPreview['fields'];
  /** What hooks add for the model. */
  readonly hookContexts?: readonly string[];
}

type HookPermission = HookStep['permission'];

/** Times an input may be replaced before the gate gives up: hooks, the tool, a person, hooks again, and one spare. */
const MAX_ROUNDS = 6;

/** Another input takes the place of the one that was judged. */
interface Replacement {
  readonly kind: 'replace';
  readonly input: ToolInput;
  /** A person put it there: once it is judged, nobody is asked about it again. */
  readonly isByPerson?: boolean;
}

/** What was decided about one input. */
interface Judged {
  readonly kind: 'judged';
  readonly decision: PermissionDecision;
  readonly located: readonly LocatedPath[];
  /** What the PreToolUse hooks said of it. */
  readonly hook?: HookPermission;
  readonly internalFields?: CallPreview['fields'];
}

/** Take an invocation through semantics and permission. */
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
    // The tool's own change comes before the question: people are asked about what runs, and only once.
    if (step.kind === 'judged' && mustAsk(step.decision, isAllowedByPerson)) {
      step = await settle(current, step, context, services, hooks);
    }
    if (step.kind === 'end') return withContexts(step, hooks);
    if (step.kind === 'judged') return permit(invocation, current, step, hooks);
    const parsed = parseInput(current.block, current.tool, step.input, services);
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

/** Passes on what hooks add, whatever became of the call. */
function withContexts(end: Ended, hooks: GateHooks | undefined): Ended {
  const newMessages = hooks && contextMessages(hooks.contexts);
  return newMessages ? ended({ ...end.outcome, newMessages, hookContexts: [...hooks.contexts] }) : end;
}

/** One person's own input is not asked about again, unless it needs the yes of another one too. */
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
  // It thinks while the hooks run.
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

/** A question is answered: by hooks where they have an answer that holds, else by whoever may. */
async function settle(
  invocation: Invocation,
  judged: Judged,
  context: ToolUseContext,
  services: GateServices,
  hooks: GateHooks | undefined,
): Promise<Judged | Replacement | Ended> {
  const said = hooks && (await hooks.beforeQuestion(invocation, judged.decision));
  if (said?.kind === 'end') return said;
  if (said?.replacement) return { kind: 'replace', input: said.replacement };
  // A hook's yes is weighed like any other: it answers no safety check.
  const allowed = said?.permission && (await decide(invocation, context, services, { hook: said.permission }));
  if (said && allowed?.decision.behavior === 'allow' && (await hooks.grant(said))) return allowed;

  const preview = await previewCall(invocation, judged.located, context);
  const answer = await services.ask(
    {
      invocation,
      observable: invocation.observable(context.session),
      decision: judged.decision,
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
  // What was shown is not what would happen any more: the same input is judged, and asked about, again.
  return now?.key === preview.key
    ? { ...judged, internalFields: now.fields }
    : { kind: 'replace', input: invocation.input };
}

/**
 * What a call would do, for the person who is asked: the tool works it out, and what was shown is what runs.
 *
 * @returns undefined where the tool cannot tell: the question then shows the intent alone.
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
    // A picture that fails must not stop the question it is for.
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
    // A no stays a no, drawn or not.
    return ended(failedOutcome(code, message, { decided }));
  }
}

/** The decision alone, before anybody is asked: what `explain` shows is what the gate does. */
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
