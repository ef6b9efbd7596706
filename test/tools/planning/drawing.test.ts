/** What people see of questions and plans while the input still streams in. */
import { describe, expect, it } from 'vitest';
import { fileServices } from '../../helpers/file-services.ts';
import { planningTools } from '../../../tools/planning/index.ts';

const tools = Object.fromEntries(planningTools(fileServices()).map((tool) => [tool.name, tool]));
const drawn = (name: string, input: unknown) => tools[name]?.renderToolUseMessage(input as never);

describe('an input that is still streaming in', () => {
  it.each([[{}], [{ questions: 'W' }], [{ questions: [null, 'x', {}] }]])(
    'of AskUserQuestion is drawn: %j',
    (input) => {
      expect(drawn('AskUserQuestion', input)).toEqual({ title: 'Question', blocks: [] });
    },
  );

  it('shows the questions and answers that are there', () => {
    const questions = [{ question: 'Which?', options: [{ label: 'A' }, {}, null] }];
    expect(drawn('AskUserQuestion', { questions })).toEqual({
      title: 'Question',
      subtitle: 'Which?',
      blocks: [
        { kind: 'text', text: 'Which?' },
        { kind: 'list', items: ['A'] },
      ],
    });
  });

  it.each([[{}], [{ plan: 3, allowedPrompts: [null, {}] }]])('of ExitPlanMode is drawn: %j', (input) => {
    expect(drawn('ExitPlanMode', input)?.blocks).toEqual([{ kind: 'text', text: 'No plan was sent along' }]);
  });
});
