import { expect, it } from 'vitest';
import { atTurnEnd } from '../../../src/log/turn-end.ts';

it('does the work of a turn in the order it was asked for, after all that the turn brings', async () => {
  const done: string[] = [];
  const end = new Promise<void>((resolve) => {
    atTurnEnd(() => done.push('first'));
    atTurnEnd(() => {
      done.push('second');
      resolve();
    });
  });
  await Promise.resolve().then(() => done.push('microtask'));
  process.nextTick(() => done.push('tick'));
  await end;
  expect(done).toEqual(['microtask', 'tick', 'first', 'second']);
});

it('does what the work asks for at the same end, behind what was there', async () => {
  const done: string[] = [];
  await new Promise<void>((resolve) => {
    atTurnEnd(() => {
      done.push('gather');
      atTurnEnd(() => {
        done.push('commit');
        setImmediate(resolve);
      });
    });
    atTurnEnd(() => done.push('gather too'));
    setImmediate(() => done.push('next immediate'));
  });
  expect(done).toEqual(['gather', 'gather too', 'commit', 'next immediate']);
});
