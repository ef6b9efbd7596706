/** ExitPlanMode: shows a plan to the person, who changes, accepts or rejects it. */
import * as z from 'zod';
import { isBeyond } from '../../src/permissions/mode-order.ts';
import { TOOL_ALIASES } from '../../src/permissions/rule-names.ts';
import { buildTool } from '../../src/tool/build-tool.ts';
import type { CallPreview, ToolResult, ToolUseContext } from '../../src/tool/tool.ts';
import type { AssistantMessage } from '../../src/wire/blocks.ts';
import type { Display, DisplayBlock, FormField } from '../../src/wire/display.ts';
import { drawFailure } from '../../src/tool/draw-failure.ts';
import type { PermissionMode } from '../../src/wire/permission-context.ts';
import { PERMISSION_MODES } from '../../src/wire/permission-names.ts';
import { modeBeforePlan, withoutPlanMode } from './mode-before-plan.ts';

const PROMPT = `Hands in your plan and asks the person to accept it. After a yes plan mode is off and you can begin; after a no it stays on, and the answer says in the person's words what to change.

- Use it only in plan mode, when the plan is ready. For a question use AskUserQuestion; "is the plan good?" is what this tool asks already.
- Send the plan in \`plan\` as Markdown: what will change and where, in which order, and how it will be tested. Short is better than complete.
- The person may change the plan before accepting it. The answer then has the accepted one: follow that.
- \`allowedPrompts\` tells the person which kinds of commands the plan needs. It allows none of them: rules decide about each call as always.`;

const MAX_PLAN_CHARS = 50_000;
const MAX_PROMPTS = 50;

/** Modes that may follow plan mode. */
const MODES_AFTER = PERMISSION_MODES.filter((mode) => mode !== 'plan');

const WHAT_MODES_DO: Readonly<Partial<Record<PermissionMode, string>>> = {
  default: 'Each change is asked about',
  acceptEdits: 'Edits in the working directories need no yes',
  auto: 'A model answers plain questions first',
  bypassPermissions: 'Nothing but safety checks and rules asks',
};

const plan = z.string().max(MAX_PLAN_CHARS);

const ExitPlanModeInput = z.strictObject({
  plan: plan.optional().describe('The plan, in Markdown'),
  allowedPrompts: z
    .array(
      z.strictObject({
        tool: z.string().min(1).max(200).describe('Name of the tool, such as Bash'),
        prompt: z.string().min(1).max(1_000).describe('What it will be used for, as in "run the tests"'),
      }),
    )
    .max(MAX_PROMPTS)
    .optional()
    .describe('Kinds of commands that the plan needs, for the person to know'),
  review: z
    .strictObject({
      plan: plan.optional().describe('The plan as the person changed it'),
      mode: z.enum(MODES_AFTER).optional().describe('The mode to go on in'),
    })
    .optional()
    .describe('Filled in by the person who accepts; leave it out'),
});

/** A parsed input. */
export type ExitPlanModeArguments = z.output<typeof ExitPlanModeInput>;

/** Make ExitPlanMode. */
export function exitPlanModeTool() {
  return buildTool({
    name: 'ExitPlanMode',
    aliases: TOOL_ALIASES.ExitPlanMode,
    searchHint: 'hand in a plan and leave plan mode',
    alwaysLoad: true,
    touchesOnlySession: () => true,
    inputSchema: ExitPlanModeInput,
    personFields: ['review'],
    maxResultSizeChars: 100_000,
    prompt: () => PROMPT,
    description: () => 'Accept the plan and leave plan mode',
    validateInput: (_input, context) => {
      const message = refusal(context);
      return message === undefined ? { result: true } : { result: false, message };
    },
    checkPermissions: () => ({
      behavior: 'ask',
      isRequired: true,
      message: 'The plan is ready. Accept it to leave plan mode, or say no and what should change',
    }),
    preview: (input, context) => Promise.resolve(planQuestion(input, context)),
    interruptBehavior: () => 'cancel',
    call: (input, context, _canUseTool, parentMessage) => Promise.resolve(leavePlanMode(input, context, parentMessage)),
    mapToolResultToToolResultBlockParam: (output: ExitPlanModeOutput, toolUseId) => ({
      type: 'tool_result',
      tool_use_id: toolUseId,
      content: acceptedText(output),
    }),
    getActivityDescription: () => 'Waiting for the plan to be accepted',
    renderToolUseMessage: (input): Display => ({ title: 'Plan', blocks: planBlocks(input) }),
    renderToolResultMessage: ({ plan: accepted, isChanged }: ExitPlanModeOutput, _progress, { style }): Display => ({
      title: isChanged ? 'Plan accepted with changes' : 'Plan accepted',
      tone: 'success',
      blocks: style === 'condensed' ? [] : planBlocks({ plan: accepted }),
    }),
    renderToolUseRejectedMessage: (input, message): Display => ({
      title: 'Plan not accepted',
      tone: 'warning',
      blocks: [{ kind: 'text', text: message }, ...planBlocks(input)],
    }),
    renderToolUseErrorMessage: (message) => drawFailure('Could not leave plan mode', message),
  });
}

/** An accepted plan. */
export interface ExitPlanModeOutput {
  readonly plan?: string;
  /** The person changed it. */
  readonly isChanged: boolean;
}

function refusal({ session, sessionId, rootSessionId }: ToolUseContext): string | undefined {
  if (sessionId !== rootSessionId) return 'Cannot leave plan mode as an agent: put the plan in your answer instead';
  if (session.permissions.mode === 'plan') return undefined;
  return 'Plan mode is not on, so there is nothing to leave: go on with the work, or turn it on with EnterPlanMode';
}

/** The plan with a form: the person may change it and choose the mode. */
function planQuestion(input: ExitPlanModeArguments, { session }: ToolUseContext): CallPreview {
  const { maxMode } = session.permissions;
  const after = modeAfter(session);
  const offered = [...new Set<PermissionMode>([after, 'default', 'acceptEdits'])];
  const choices = offered
    .filter((mode) => mode === after || !isBeyond(mode, maxMode))
    .map((mode) => ({ value: mode, label: mode, description: WHAT_MODES_DO[mode] }));
  const fields: readonly FormField[] = [
    { name: 'plan', label: 'Plan', type: 'text', value: input.plan ?? '' },
    { name: 'mode', label: 'Go on in mode', type: 'choice', choices, value: after },
  ];
  const display = { title: 'Plan', blocks: [...planBlocks(input), { kind: 'form', key: 'review', fields }] } as const;
  return { display, key: 'plan', fields: {} };
}

function modeAfter(session: ToolUseContext['session']): PermissionMode {
  const { maxMode, isBypassAvailable } = session.permissions;
  const before = modeBeforePlan(session);
  const isAvailable = !isBeyond(before, maxMode) && (before !== 'bypassPermissions' || isBypassAvailable);
  return isAvailable ? before : isBeyond('default', maxMode) ? 'dontAsk' : 'default';
}

function leavePlanMode(
  { plan: given, review }: ExitPlanModeArguments,
  { session, toolUseId }: ToolUseContext,
  parentMessage: AssistantMessage,
): ToolResult<ExitPlanModeOutput> {
  const accepted = review?.plan ?? given;
  const mode = review?.mode ?? modeAfter(session);
  return {
    data: {
      ...(accepted !== undefined && { plan: accepted }),
      isChanged: (accepted ?? '') !== (sentPlan(parentMessage, toolUseId) ?? given ?? ''),
    },
    contextModifier: (context) => withoutPlanMode(context, mode),
  };
}

/** The plan as the model sent it, which a person may have replaced. */
function sentPlan({ content }: AssistantMessage, toolUseId: string): string | undefined {
  if (typeof content === 'string') return undefined;
  const block = content.find((each) => each.type === 'tool_use' && 'id' in each && each.id === toolUseId);
  const sent: unknown = block && 'input' in block ? block.input : undefined;
  if (typeof sent !== 'object' || sent === null || !('plan' in sent)) return undefined;
  return typeof sent.plan === 'string' ? sent.plan : undefined;
}

function acceptedText({ plan: accepted, isChanged }: ExitPlanModeOutput): string {
  const begin = 'Plan mode is off: begin with the work';
  if (!isChanged) return `The person accepted the plan. ${begin}`;
  return `The person changed the plan and accepted it. ${begin}, by this plan:\n\n${accepted ?? '(empty)'}`;
}

function planBlocks({ plan: text, allowedPrompts }: Partial<ExitPlanModeArguments>): readonly DisplayBlock[] {
  const prompts = Array.isArray(allowedPrompts)
    ? allowedPrompts.flatMap((each: Partial<{ tool: string; prompt: string }> | null | undefined) =>
        typeof each?.tool === 'string' && typeof each.prompt === 'string' ? [`${each.tool}: ${each.prompt}`] : [],
      )
    : [];
  return [
    { kind: 'text', text: typeof text === 'string' && text !== '' ? text : 'No plan was sent along' },
    ...(prompts.length > 0 ? ([{ kind: 'list', items: prompts }] as const) : []),
  ];
}
