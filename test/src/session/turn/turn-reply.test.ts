/** A turn as its sender gets it back. */
import { afterAll, describe, expect, it } from 'vitest';
import type { Frame } from '../../../../src/wire/frames.ts';
import type { Tool } from '../../../../src/tool/tool.ts';
import { SessionDirectory } from '../../../../src/session/directory/session-directory.ts';
import type { Session } from '../../../../src/session/session.ts';
import { noteTool, slowTool } from '../../../helpers/fake-tools.ts';
import { MemoryLog } from '../../../helpers/memory-log.ts';
import { blockOf, execute, sessionServices } from '../../../helpers/session-services.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';

const folder = temporaryFolder();
const directories: SessionDirectory[] = [];
afterAll(() => Promise.all(directories.map((directory) => directory.close())));

async function newSession(tools: readonly Tool[]) {
  const directory = new SessionDirectory(sessionServices(new MemoryLog(), tools, { folder }));
  directories.push(directory);
  return directory.create('owner', {});
}

/** The frames of a turn until it ends, as `type id`. */
async function streamed(session: Session, ids: readonly string[], turnId: string): Promise<readonly string[]> {
  const turn = await session.submit({ turnId, blocks: ids.map((id) => blockOf('Note', id)) });
  const frames: Frame[] = [];
  for await (const page of session.turnFrames(turn, AbortSignal.timeout(5_000)))
    frames.push(...page.map(({ frame }) => frame));
  return frames.map((frame) =>
    `${frame.type} ${frame.type === 'tool_use' ? frame.tool_use.id : 'tool_use_id' in frame ? String(frame.tool_use_id) : ''}`.trim(),
  );
}

describe('the frames of a turn', () => {
  it('begin with its blocks and end with its end', async () => {
    const words = await streamed(await newSession([noteTool()]), ['a', 'b'], 't');
    expect(words.slice(0, 2)).toEqual(['tool_use a', 'tool_use b']);
    expect(words.filter((word) => word.startsWith('result'))).toEqual(['result a', 'result b']);
    expect(words.at(-1)).toBe('turn_end');
  });

  it('leave out what belongs to other turns', async () => {
    const session = await newSession([noteTool()]);
    const [one] = await Promise.all([streamed(session, ['a'], 't'), streamed(session, ['b'], 'u')]);
    expect(one.some((word) => word.endsWith(' b'))).toBe(false);
  });

  it('of a turn that is sent again are its stored results and its end', async () => {
    const session = await newSession([noteTool()]);
    await streamed(session, ['a', 'b'], 't');
    expect(await streamed(session, ['a', 'b'], 't')).toEqual(['result a', 'result b', 'turn_end']);
  });

  it('of known blocks in a new turn repeat their results before its end', async () => {
    const session = await newSession([noteTool()]);
    await streamed(session, ['a'], 't');
    const words = await streamed(session, ['a', 'b'], 'u');
    expect(words[0]).toBe('result a');
    expect(words.filter((word) => word.startsWith('result'))).toEqual(['result a', 'result b']);
  });
});

describe('whoever waits for a turn', () => {
  it('may go away, and the turn goes on', async () => {
    const slow = slowTool();
    const session = await newSession([slow.tool]);
    const turn = await session.submit({ blocks: [blockOf('Slow', 'a')] });
    await slow.isRunning('a');
    const gone = new AbortController();
    const reply = session.collect(turn, gone.signal);
    gone.abort();
    await expect(reply).rejects.toMatchObject({ code: 'cancelled' });
    slow.end('a');
    expect((await execute(session, [blockOf('Slow', 'a')])).calls[0]).toMatchObject({ status: 'ok', replayed: true });
  });

  it('gets what tools add to the conversation, after the results, in block order', async () => {
    const message = (text: string) => ({ role: 'user' as const, content: text });
    const tool = noteTool({
      call: (input) => Promise.resolve({ data: input, newMessages: [message(String(input['text']))] }),
    });
    const reply = await execute(await newSession([tool]), [blockOf('Note', 'a'), blockOf('Note', 'b')]);
    expect(reply.newMessages).toEqual([message('a'), message('b')]);
  });
});

describe('a call that ends its turn and fails', () => {
  const ending = noteTool({
    isConcurrencySafe: () => false,
    call: (_input, context) => {
      context.abortTurn('enough');
      throw new Error('broken');
    },
  });

  it('takes what comes behind it along', async () => {
    const { results, calls } = await execute(await newSession([ending]), [blockOf('Note', 'a'), blockOf('Note', 'b')]);
    expect(calls.map(({ status }) => status)).toEqual(['error', 'cancelled']);
    expect(results[1]?.content).toBe('Cancelled: enough');
  });

  it('keeps how its gate decided', async () => {
    const session = await newSession([ending]);
    const turn = await session.submit({ blocks: [blockOf('Note', 'a')] });
    for await (const page of session.turnFrames(turn, AbortSignal.timeout(5_000))) {
      for (const { frame } of page)
        if (frame.type === 'result') expect(frame.decision).toMatchObject({ behavior: 'allow' });
    }
    expect.assertions(1);
  });
});
