/**
 * Step 2: may it run? Semantics first, then hooks, the decision (`decide.ts`), then a person.
 *
 * Whatever changes the input on the way sends it round again: what runs is what was judged.
 */
import type { PermissionDecision } from '../contract/decision.ts';
import type { LocatedPath, LocatePath } from '../contract/located-path.ts';
import type { SessionContext } from '../contract/session-context.ts';
import type { CallPreview, Tool, ToolUseContext } from '../contract/tool.ts';
import { type PermissionClassifier, type Speculation, speculate } from '../permissions/classifier.ts';
import { decidePermission, type PermissionRequest } from '../permissions/decide.ts';
import { contextMessages, gateHooks, type GateHooks, type HookStep } from './gate-hooks.ts';
import type { CallHookServices } from './hook-occasion.ts';
import { observableInput, replacedInput } from './observable-input.ts';
import { type CallOutcome, failedOutcome, summariseDecision } from './outcome.ts';
import { previewCall } from './preview.ts';
import { parseInput, type ParsedCall, type ParseServices } from './parse.ts';

/** A question about a call, for whoever may answer. */
export interface GateQuestion {
  readonly tool: Tool;
  readonly toolUseId: string;
  /** What runs if the answer changes nothing. */
  readonly input: Readonly<Record<string, unknown>>;
  /** What people see. */
  readonly observable: Readonly<Record<string, unknown>>;
  readonly decision: PermissionDecision;
  /** What the call would do, where its tool can tell. */
  readonly preview?: CallPreview;
  /** The same call under a newer context: an answer that adds rules is tried on the others that wait. */
  rejudge(session: SessionContext): Promise<PermissionDecision>;
}

/** How a question ended. */
export type GateAnswer =
  | { readonly behavior: 'allow'; readonly updatedInput?: Readonly<Record<string, unknown>> }
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
export interface PermittedCall extends ParsedCall {
  readonly decision: PermissionDecision;
  /** Where the tool's `paths(input)` lie, in their order, as the decision saw them. */
  readonly located: readonly LocatedPath[];
  /** True when the input is not the one the block came with. */
  readonly isInputChanged: boolean;
  /** Fields that only the server sets: the call does what a person was shown. */
  readonly internalFields?: CallPreview['fields'];
  /** What hooks of the gate, and of those of its inner calls, add for the model. */
  readonly hookContexts?: readonly string[];
}

type HookPermission = HookStep['permission'];

/** Times an input may be replaced before the gate gives up: hooks, the tool, a person, hooks again, and one spare. */
const MOST_ROUNDS = 6;

/** Another input takes the place of the one that was judged. */
interface Replacement {
  readonly replacement: ParsedCall['input'];
  /** A person put it there: once it is judged, nobody is asked about it again. */
  readonly isByPerson?: boolean;
}

/** Take a parsed call through semantics and permission. */
export async function gate(
  call: ParsedCall,
  context: ToolUseContext,
  services: GateServices,
): Promise<PermittedCall | CallOutcome> {
  const hooks = services.hooks && gateHooks(context, services);
  let { input } = call;
  let isAllowedByPerson = false;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const current = round === 0 ? call : { ...call, input };
    let step = await judge(current, context, services, hooks);
    // The tool's own change comes before the question: people are asked about what runs, and only once.
    if ('decision' in step && mustAsk(step.decision, isAllowedByPerson)) {
      step = await settle(current, step, context, services, hooks);
    }
    if ('status' in step) return withContexts(step, hooks);
    if ('decision' in step) {
      const { decision, located, internalFields } = step;
      return {
        block: call.block,
        tool: call.tool,
        input,
        decision,
        located,
        isInputChanged: input !== call.input,
        internalFields,
        hookContexts: hooks && [...hooks.contexts],
      };
    }
    const parsed = parseInput(call.tool, step.replacement, services);
    if ('errorCode' in parsed) return withContexts(parsed, hooks);
    ({ input } = parsed);
    isAllowedByPerson = step.isByPerson === true;
    if (isAllowedByPerson) hooks?.personReplaced();
  }
  return failedOutcome(
    'permission_denied',
    `Cannot run "${call.tool.name}": its input kept changing while it was judged`,
  );
}

/** What hooks add is passed on whatever became of the call. */
function withContexts(outcome: CallOutcome, hooks: GateHooks | undefined): CallOutcome {
  const newMessages = hooks && contextMessages(hooks.contexts);
  return newMessages ? { ...outcome, newMessages } : outcome;
}

/** One person's own input is not asked about again, unless it needs the yes of another one too. */
function mustAsk({ behavior, approvals }: PermissionDecision, isAllowedByPerson: boolean): boolean {
  return behavior === 'ask' && (!isAllowedByPerson || approvals !== undefined);
}

interface Judgement {
  readonly decision: PermissionDecision;
  readonly observable: Readonly<Record<string, unknown>>;
  readonly located: readonly LocatedPath[];
  /** What the PreToolUse hooks said of it. */
  readonly hook?: HookPermission;
  readonly internalFields?: CallPreview['fields'];
}

async function judge(
  call: ParsedCall,
  context: ToolUseContext,
  services: GateServices,
  hooks: GateHooks | undefined,
): Promise<Judgement | Replacement | CallOutcome> {
  const validation = await call.tool.validateInput?.(call.input, context);
  if (validation?.result === false) return failedOutcome('invalid_input', validation.message);
  // It thinks while the hooks run.
  const speculation = services.classifier && speculate(services.classifier, call, context);
  try {
    return await judgeValid(call, context, services, { hooks, speculation });
  } finally {
    speculation?.cancel();
  }
}

async function judgeValid(
  call: ParsedCall,
  context: ToolUseContext,
  services: GateServices,
  { hooks, speculation }: { readonly hooks: GateHooks | undefined; readonly speculation: Speculation | undefined },
): Promise<Judgement | Replacement | CallOutcome> {
  const said = hooks && (await hooks.beforeDecision(call));
  if (said && 'status' in said) return said;
  if (said?.replacement) return { replacement: said.replacement };

  const judgement = await decide(call, context, services, { hook: said?.permission, speculation });
  const { decision, observable, located } = judgement;
  if (decision.behavior === 'deny') return refused(call, decision, decision.message);
  const replacement = replacedInput(decision.updatedInput, call.input, observable);
  return replacement ? { replacement } : { decision, observable, located, hook: said?.permission };
}

/** A question is answered: by hooks where they have an answer that holds, else by whoever may. */
async function settle(
  call: ParsedCall,
  judgement: Judgement,
  context: ToolUseContext,
  services: GateServices,
  hooks: GateHooks | undefined,
): Promise<Judgement | Replacement | CallOutcome> {
  const said = hooks && (await hooks.beforeQuestion(call, judgement.decision));
  if (said && 'status' in said) return said;
  if (said?.replacement) return { replacement: said.replacement };
  // A hook's yes is weighed like any other: it answers no safety check.
  const allowed = said?.permission && (await decide(call, context, services, { hook: said.permission }));
  if (said && allowed?.decision.behavior === 'allow' && (await hooks.grant(said))) return allowed;

  const preview = await previewCall(call, judgement.located, context);
  const answer = await services.ask({ ...question(call, judgement, context, services), preview }, context.signal);
  if (answer.behavior === 'deny') return refused(call, judgement.decision, answer.message);
  const replacement = replacedInput(answer.updatedInput, call.input, judgement.observable);
  if (replacement) return { replacement, isByPerson: true };
  if (!preview) return judgement;
  const now = await previewCall(call, judgement.located, context);
  // What was shown is not what would happen any more: the same input is judged, and asked about, again.
  return now?.key === preview.key ? { ...judgement, internalFields: now.fields } : { replacement: call.input };
}

function refused({ tool, input }: ParsedCall, decision: PermissionDecision, message: string): CallOutcome {
  const isByHook = decision.behavior === 'deny' && decision.reason.type === 'hook';
  const code = isByHook ? 'hook_blocked' : 'permission_denied';
  const summary = summariseDecision(decision);
  try {
    return failedOutcome(code, message, {
      decided: summary,
      display: tool.renderToolUseRejectedMessage?.(input, message),
    });
  } catch {
    // A no stays a no, drawn or not.
    return failedOutcome(code, message, { decided: summary });
  }
}

/** The decision alone, before anybody is asked: what `explain` shows is what the gate does. */
export async function decide(
  call: Pick<ParsedCall, 'tool' | 'input'>,
  context: ToolUseContext,
  services: Pick<GateServices, 'locate' | 'twoPerson' | 'classifier'>,
  { hook, speculation }: { readonly hook?: HookPermission; readonly speculation?: Speculation } = {},
): Promise<Judgement> {
  const { tool, input } = call;
  const observable = observableInput(tool, input, context.session);
  const locating: Promise<LocatedPath>[] = [];
  const locate: LocatePath = (use, where) => {
    const located = services.locate(use, where);
    locating.push(located);
    return located;
  };
  const thinking = speculation ?? (services.classifier && speculate(services.classifier, call, context));
  const classifier = thinking && (() => thinking.answer());
  const decision = await decidePermission({
    tool,
    input,
    observable,
    context,
    locate,
    hook,
    classifier,
    twoPerson: services.twoPerson,
  });
  thinking?.cancel();
  return { decision, observable, located: await Promise.all(locating) };
}

function question(
  call: ParsedCall,
  judgement: Judgement,
  context: ToolUseContext,
  services: GateServices,
): GateQuestion {
  return {
    tool: call.tool,
    toolUseId: context.toolUseId,
    input: call.input,
    observable: judgement.observable,
    decision: judgement.decision,
    rejudge: async (session) =>
      (await decide(call, { ...context, session }, services, { hook: judgement.hook })).decision,
  };
}
