/** What a tool may still do when its call has ended. */
import { expect, it } from 'vitest';
import type { ToolUseContext } from '../../../../src/tool/tool.ts';
import { noteTool } from '../../../helpers/fake-tools.ts';
import { blockOf, execute, framesOf } from '../../../helpers/session-services.ts';
import { testSessions } from '../../../helpers/test-sessions.ts';

it('starts no task: nobody would be told whose it is', async () => {
  let kept: ToolUseContext | undefined;
  const tool = noteTool({
    call: (input, context) => {
      kept = context;
      return Promise.resolve({ data: input });
    },
  });
  const session = await testSessions([tool]).directory.create('owner', {});
  await execute(session, [blockOf('Note', 'a')]);
  const late = kept?.tasks.start({
    kind: 'late',
    description: 'late',
    run: () => Promise.resolve({ status: 'completed' }),
  });
  await expect(late).rejects.toMatchObject({ code: 'cancelled', message: expect.stringContaining('has ended') });
  expect((await framesOf(session)).map(({ type }) => type)).not.toContain('task_started');
});
