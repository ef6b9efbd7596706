/**
 * Step 2: may it run? Semantics first, then the decision of DESIGN section 4, then a person.
 *
 * Whatever changes the input on the way sends it round again: what runs is what was judged.
 */
import { isDeepStrictEqual } from 'node:util';
import type { PermissionDecision } from '../contract/decision.ts';
import type { LocatedPath, LocatePath } from '../contract/located-path.ts';
import type { SessionContext } from '../contract/session-context.ts';
import type { Tool, ToolUseContext } from '../contract/tool.ts';
import { decidePermission } from '../permissions/decide.ts';
import { observableInput, withoutBackfill } from './observable-input.ts';
import { type CallOutcome, failedOutcome } from './outcome.ts';
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
  /** The same call under a newer context: an answer that adds rules is tried on the others that wait. */
  rejudge(session: SessionContext): Promise<PermissionDecision>;
}

/** How a question ended. */
export type GateAnswer =
  | { readonly behavior: 'allow'; readonly updatedInput?: Readonly<Record<string, unknown>> }
  | { readonly behavior: 'deny'; readonly message: string };

/** What the gate needs of its session. */
export interface GateServices extends ParseServices {
  readonly locate: LocatePath;
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
}

/** Times an input may be replaced before the gate gives up: a hook, the tool, a person, and one spare. */
const MOST_ROUNDS = 4;

/** Take a parsed call through semantics and permission. */
export async function gate(
  call: ParsedCall,
  context: ToolUseContext,
  services: GateServices,
): Promise<PermittedCall | CallOutcome> {
  let input = call.input;
  let allowedByPerson: ParsedCall['input'] | undefined;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const judged = await judge({ ...call, input }, context, services);
    if ('status' in judged) return judged;
    const { decision, observable, located } = judged;

    let next = replaced(decision.updatedInput, input, observable);
    // The tool's own change comes before the question: people are asked about what runs, and only once.
    if (!next && decision.behavior === 'ask' && input !== allowedByPerson) {
      const answer = await services.ask(question({ ...call, input }, judged, context, services), context.signal);
      if (answer.behavior === 'deny') return refused(call, input, answer.message);
      next = replaced(answer.updatedInput, input, observable);
      allowedByPerson = next ?? input;
    }
    if (!next) return { ...call, input, decision, located, isInputChanged: input !== call.input };

    const parsed = parseInput(call.tool, next, services);
    if ('errorCode' in parsed) return parsed;
    if (next === allowedByPerson) allowedByPerson = parsed.input;
    input = parsed.input;
  }
  return failedOutcome(
    'permission_denied',
    `Cannot run "${call.tool.name}": its input kept changing while it was judged`,
  );
}

/** The input that takes the place of `input`; undefined when nothing changes. */
function replaced(
  changed: ParsedCall['input'] | undefined,
  input: ParsedCall['input'],
  observable: ParsedCall['input'],
) {
  const next = changed && withoutBackfill(changed, input, observable);
  return next && !isDeepStrictEqual(next, input) ? next : undefined;
}

interface Judgement {
  readonly decision: PermissionDecision;
  readonly observable: Readonly<Record<string, unknown>>;
  readonly located: readonly LocatedPath[];
}

async function judge(
  call: ParsedCall,
  context: ToolUseContext,
  services: GateServices,
): Promise<Judgement | CallOutcome> {
  const validation = await call.tool.validateInput?.(call.input, context);
  if (validation?.result === false) return failedOutcome('invalid_input', validation.message);
  const judgement = await decide(call, context, services);
  if (judgement.decision.behavior !== 'deny') return judgement;
  return refused(call, call.input, judgement.decision.message);
}

function refused({ tool }: ParsedCall, input: ParsedCall['input'], message: string): CallOutcome {
  try {
    return failedOutcome('permission_denied', message, {
      display: tool.renderToolUseRejectedMessage?.(input, message),
    });
  } catch {
    // A no stays a no, drawn or not.
    return failedOutcome('permission_denied', message);
  }
}

/** The decision alone, before anybody is asked: what `explain` shows is what the gate does. */
export async function decide(
  call: Pick<ParsedCall, 'tool' | 'input'>,
  context: ToolUseContext,
  services: Pick<GateServices, 'locate'>,
): Promise<Judgement> {
  const { tool, input } = call;
  const observable = observableInput(tool, input, context.session);
  const locating: Promise<LocatedPath>[] = [];
  const locate: LocatePath = (use, where) => {
    const located = services.locate(use, where);
    locating.push(located);
    return located;
  };
  const decision = await decidePermission({ tool, input, observable, context, locate });
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
    rejudge: async (session) => (await decide(call, { ...context, session }, services)).decision,
  };
}
