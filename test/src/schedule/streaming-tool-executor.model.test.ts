/** The executor against a model of it, under random batches, cancels, discards and failures. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { partitionToolCalls } from '../../../src/schedule/partition.ts';
import { ExecutorWorld, type CallPlan, type WorldEvent } from '../../helpers/executor-world.ts';

const plan: fc.Arbitrary<CallPlan> = fc.record({
  isSafe: fc.boolean(),
  ending: fc.constantFrom('ok', 'ok', 'tool_failed', 'permission_denied'),
  abortsSiblings: fc.boolean(),
  modifies: fc.boolean(),
  obeys: fc.boolean(),
  onInterrupt: fc.constantFrom('cancel', 'block'),
});
const number = fc.nat({ max: 30 });
const add = fc.record({ type: fc.constant('add' as const), turn: number, plan });
const event: fc.Arbitrary<WorldEvent> = fc.oneof(
  { weight: 8, arbitrary: add },
  { weight: 6, arbitrary: fc.record({ type: fc.constant('finish' as const), pick: number }) },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constantFrom('cancel' as const, 'becomeUnsafe' as const), pick: number }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constantFrom('cancelTurn' as const, 'discard' as const), turn: number }),
  },
  { weight: 1, arbitrary: fc.constant({ type: 'interrupt' as const }) },
);

it('any order of events gives one result a call, in block order, each as its model says', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.array(event, { maxLength: 40, size: 'max' }),
      async (maxConcurrency, events) => {
        const world = new ExecutorWorld(maxConcurrency, 3);
        for (const each of events) await world.happen(each);
        await world.settle();
        expect(world.broken).toEqual([]);
        expect(world.yielded).toEqual(world.expected);
        expect(world.modified).toEqual(world.expectedModifiers);
      },
    ),
    { numRuns: 500 },
  );
});

it('a closed turn runs in exactly the groups that partitionToolCalls names', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(plan, { minLength: 1, maxLength: 12, size: 'max' }),
      fc.array(number, { maxLength: 12 }),
      async (plans, picks) => {
        const quiet = plans.map((each) => ({ ...each, ending: 'ok' as const }));
        const world = new ExecutorWorld(100, 1);
        for (const each of quiet) await world.happen({ type: 'add', turn: 0, plan: each });
        const names = partitionToolCalls(world.calls, ({ plan: { isSafe } }) => isSafe).map(({ calls }) =>
          calls.map(({ name }) => name),
        );
        for (const group of names) {
          expect(world.began.slice(-group.length)).toEqual(group);
          for (let left = group.length; left > 0; left--)
            await world.happen({ type: 'finish', pick: picks[left] ?? 0 });
        }
        expect(world.yielded).toEqual(world.calls.map(({ name }) => `${name} ok`));
        expect(world.broken).toEqual([]);
      },
    ),
    { numRuns: 200 },
  );
});
