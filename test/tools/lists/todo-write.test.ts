import { describe, expect, test } from 'vitest';
import type { SessionContext } from '../../../src/tool/session-context.ts';
import { todoWriteTool } from '../../../tools/lists/todo-write.ts';
import { sessionContextIn, toolUseContextIn } from '../../helpers/tool-use-context.ts';

const tool = todoWriteTool();
const first = [{ content: 'Write it', status: 'in_progress', activeForm: 'Writing it' }];
const second = [
  { content: 'Write it', status: 'completed', activeForm: 'Writing it' },
  { content: 'Test it', status: 'pending', activeForm: 'Testing it' },
];

async function write(todos: unknown, session: SessionContext = sessionContextIn('/w')) {
  const input = tool.inputSchema.parse({ todos });
  const result = await tool.call(input, toolUseContextIn('/w', { session }));
  return { data: result.data, session: result.contextModifier?.(session) ?? session };
}

describe('TodoWrite', () => {
  test('replaces the list and answers both', async () => {
    const before = await write(first);
    const after = await write(second, before.session);
    expect(after.data).toEqual({ oldTodos: first, newTodos: second });
    expect(tool.mapToolResultToToolResultBlockParam(after.data, 'call-1').content).toBe(
      'Replaced the todo list\nBefore:\n[>] Write it\nNow:\n[x] Write it\n[ ] Test it',
    );
  });

  test("leaves other tools' state alone", async () => {
    const { session } = await write(first, sessionContextIn('/w', { toolState: { Other: 1 } }));
    expect(session.toolState).toEqual({ Other: 1, TodoWrite: first });
  });

  test('an empty list is one too', async () => {
    const { data } = await write([]);
    expect(tool.mapToolResultToToolResultBlockParam(data, 'call-1').content).toContain('Now:\n(empty)');
  });

  test.each([
    [[{ content: '', status: 'pending', activeForm: 'x' }]],
    [[{ content: 'x', status: 'later', activeForm: 'x' }]],
    ['x'],
  ])('refuses %j', (todos) => {
    expect(tool.inputSchema.safeParse({ todos }).success).toBe(false);
  });

  test('draws what has come so far', () => {
    const partial = { todos: [{ content: 'Wri' }, {}, null] } as never;
    expect(tool.renderToolUseMessage(partial).blocks).toEqual([{ kind: 'list', items: ['[ ] Wri'] }]);
    expect(tool.renderToolUseMessage({ todos: 'Wri' } as never).blocks).toEqual([]);
  });

  test('draws how far the work is', async () => {
    const { data } = await write([...first, ...second]);
    expect(tool.renderToolResultMessage(data, [], {})).toMatchObject({
      title: 'Todos: 1 of 3 done',
      subtitle: 'Writing it',
    });
    expect(tool.renderToolResultMessage(data, [], { style: 'condensed' }).blocks).toEqual([]);
    expect(tool.renderToolUseRejectedMessage({}, 'no')).toMatchObject({ tone: 'danger' });
  });
});
