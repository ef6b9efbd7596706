/** The planning tools: plan mode, and questions and messages to the person. */
import { askUserQuestionTool } from './ask-user-question.ts';
import { enterPlanModeTool } from './enter-plan-mode.ts';
import { exitPlanModeTool } from './exit-plan-mode.ts';
import { sendUserMessageTool } from './send-user-message.ts';
import type { PlanningToolServices } from './services.ts';

/** All planning tools, in no particular order: the pool sorts. */
export function planningTools(services: PlanningToolServices) {
  return [askUserQuestionTool(), enterPlanModeTool(), exitPlanModeTool(), sendUserMessageTool(services)];
}
