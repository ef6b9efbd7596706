/** What viewers hear of a call that runs long. */
import { expect, it } from 'vitest';
import { noteTool, slowTool } from '../../../helpers/fake-tools.ts';
import { blockOf, execute, framesOf, frameWhere } from '../../../helpers/session-services.ts';
import { testSessions } from '../../../helpers/test-sessions.ts';

const progressOf = (frames: Awaited<ReturnType<typeof framesOf>>) =>
  frames.flatMap((frame) => (frame.type === 'progress' ? [frame] : []));

it('a call that says nothing is told of after two seconds, with how long it has run, and again after twice as long', async () => {
  const slow = slowTool();
  const session = await testSessions([slow.tool]).directory.create('owner', {});
  const turn = await session.submit({ blocks: [blockOf('Slow', 'a')] });
  const first = await frameWhere(session, ({ type }) => type === 'progress');
  const second = await frameWhere(session, ({ type }) => type === 'progress', first.seq);
  slow.end('a');
  await session.collect(turn, AbortSignal.timeout(5_000));
  expect(first).toMatchObject({
    tool_use_id: 'a',
    n: 1,
    data: { type: 'status' },
    display: { title: 'Still running' },
  });
  const [once, again] = [first, second].map(
    (frame) => (frame as unknown as { data: { elapsed_ms: number } }).data.elapsed_ms,
  );
  expect(once).toBeGreaterThanOrEqual(1_950);
  expect((again ?? 0) - (once ?? 0)).toBeGreaterThanOrEqual(3_950);
});

it('a call that speaks up itself is not spoken for', async () => {
  const chatty = noteTool({
    call: (input, _context, _canUseTool, _parentMessage, onProgress) =>
      new Promise((resolve) => {
        let said = 0;
        const timer = setInterval(() => {
          onProgress?.({ data: { type: 'own' } });
          if (++said < 8) return;
          clearInterval(timer);
          resolve({ data: input });
        }, 350);
      }),
  });
  const session = await testSessions([chatty]).directory.create('owner', {});
  await execute(session, [blockOf('Note', 'a')]);
  expect(progressOf(await framesOf(session)).map(({ data }) => data.type)).toEqual(Array(8).fill('own'));
});
