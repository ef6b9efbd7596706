/** EnterPlanMode: makes the session read-only until a person accepts a plan. */
import * as z from 'zod';
import { buildTool } from '../../src/tool/build-tool.ts';
import type { Display } from '../../src/wire/display.ts';
import { drawFailure } from '../../src/tool/draw-failure.ts';
import { withPlanMode } from './mode-before-plan.ts';

const PROMPT = `Turns plan mode on: from then on the session only reads, until the person accepts a plan that you hand in with ExitPlanMode.

Use it before work that can be done in several ways, touches many files, or would be costly to take back, and where you would otherwise ask how to go about it. Leave it out for small or fully described changes, and where only a question is to be answered.

In plan mode:
- Look around with Read, Grep and Glob; what changes anything is refused
- Ask what only the person can decide with AskUserQuestion
- Hand the plan in with ExitPlanMode. The person may change it, accept it, or say no and why`;

/** Make EnterPlanMode. */
export function enterPlanModeTool() {
  return buildTool({
    name: 'EnterPlanMode',
    searchHint: 'only read and plan before anything changes',
    shouldDefer: true,
    touchesOnlySession: () => true,
    inputSchema: z.strictObject({}),
    maxResultSizeChars: 10_000,
    prompt: () => PROMPT,
    description: () => 'Turn plan mode on',
    validateInput: (_input, { sessionId, rootSessionId }) =>
      sessionId === rootSessionId
        ? { result: true }
        : { result: false, message: 'Cannot enter plan mode as an agent: put the plan in your answer instead' },
    call: (_input, { session }) =>
      Promise.resolve({ data: { wasOn: session.permissions.mode === 'plan' }, contextModifier: withPlanMode }),
    mapToolResultToToolResultBlockParam: ({ wasOn }: EnterPlanModeOutput, toolUseId) => ({
      type: 'tool_result',
      tool_use_id: toolUseId,
      content: `${wasOn ? 'Plan mode was on already' : 'Plan mode is on'}: only reading is allowed. Look around, then hand the plan in with ExitPlanMode`,
    }),
    getActivityDescription: () => 'Entering plan mode',
    renderToolUseMessage: (): Display => ({ title: 'Enter plan mode', blocks: [] }),
    renderToolResultMessage: (): Display => ({ title: 'Plan mode is on', tone: 'info', blocks: [] }),
    renderToolUseRejectedMessage: (_input, message) => drawFailure('Did not enter plan mode', message),
    renderToolUseErrorMessage: (message) => drawFailure('Could not enter plan mode', message),
  });
}

/** Output of EnterPlanMode; `wasOn` is true if plan mode was on before. */
export interface EnterPlanModeOutput {
  readonly wasOn: boolean;
}
