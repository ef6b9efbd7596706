/** The executor, sentence by sentence of its design. */
import { describe, expect, it } from 'vitest';
import { afterMicrotasks, executorUnderTest, fakeCall, namedModifier, type FakeCall } from '../../helpers/fake-call.ts';

const fakes = <const Ids extends readonly string[]>(...ids: Ids) =>
  ids.map((id) => fakeCall(id)) as { [Place in keyof Ids]: FakeCall };
/** One whose failure cancels its siblings, unsafe as its name says. */
const shell = (id: string) => fakeCall(id, { abortsSiblings: () => true });
const modifying = (id: string) => ({ contextModifier: namedModifier(id) });

describe('starting', () => {
  it('starts a call as soon as its block is there', () => {
    const { executor, heard } = executorUnderTest();
    executor.add(executor.openTurn(), fakeCall('a'));
    expect(heard('executing')).toEqual(['a']);
  });

  it('runs safe calls side by side', () => {
    const { addTurn, heard } = executorUnderTest();
    addTurn(...fakes('a', 'b', 'c'));
    expect(heard('executing')).toEqual(['a', 'b', 'c']);
  });

  it('runs Read, Read, mutating Bash, Read, Read in three steps, the last two Reads together', async () => {
    const { addTurn, heard } = executorUnderTest();
    const [one, two, bash, three, four] = fakes('read1', 'read2', 'BASH', 'read3', 'read4');
    addTurn(one, two, bash, three, four);
    expect(heard('executing')).toEqual(['read1', 'read2']);
    await one.succeed();
    expect(heard('executing')).toHaveLength(2);
    await two.succeed();
    expect(heard('executing')).toEqual(['read1', 'read2', 'BASH']);
    await bash.succeed();
    expect(heard('executing').slice(3)).toEqual(['read3', 'read4']);
  });

  it('lets no safe call overtake an unsafe one that waits', async () => {
    const { addTurn, heard } = executorUnderTest();
    const [first, unsafe, late] = fakes('a', 'B', 'c');
    addTurn(first, unsafe, late);
    expect(heard('executing')).toEqual(['a']);
    await first.succeed();
    expect(heard('executing')).toEqual(['a', 'B']);
  });

  it('holds an unsafe call of one turn back for a call of another', async () => {
    const { executor, heard } = executorUnderTest();
    const [first, unsafe] = fakes('a', 'B');
    executor.add(executor.openTurn(), first);
    executor.add(executor.openTurn(), unsafe);
    expect(heard('executing')).toEqual(['a']);
    await first.succeed();
    expect(heard('executing')).toEqual(['a', 'B']);
  });

  it('runs no more calls at once than the limit', async () => {
    const { addTurn, heard } = executorUnderTest(2);
    const [one, two, three] = fakes('a', 'b', 'c');
    addTurn(one, two, three);
    expect(heard('executing')).toEqual(['a', 'b']);
    await two.succeed();
    expect(heard('executing')).toEqual(['a', 'b', 'c']);
  });

  it('counts a call whose safety cannot be told as unsafe', () => {
    const { addTurn, heard } = executorUnderTest();
    const isConcurrencySafe = () => {
      throw new Error('no idea');
    };
    addTurn(fakeCall('a'), fakeCall('b', { isConcurrencySafe }));
    expect(heard('executing')).toEqual(['a']);
  });

  it('starts nothing more once it is halted, and lets what runs finish', async () => {
    const { executor, addTurn, heard } = executorUnderTest();
    const [running, queued] = fakes('A', 'b');
    addTurn(running, queued);
    executor.halt();
    await running.succeed();
    expect(heard('yield')).toEqual(['A ok']);
    expect(heard('executing')).toEqual(['A']);
  });
});

describe('an input that became unsafe', () => {
  it('waits until the call is alone', async () => {
    const { addTurn } = executorUnderTest();
    const [changed, neighbour] = fakes('a', 'b');
    addTurn(changed, neighbour);
    let isAlone = false;
    void changed.steps?.becomeAlone().then(() => (isAlone = true));
    await afterMicrotasks();
    expect(isAlone).toBe(false);
    await neighbour.succeed();
    expect(isAlone).toBe(true);
  });

  it('lets nothing start beside it any more', () => {
    const { executor, addTurn, heard } = executorUnderTest();
    const changed = fakeCall('a');
    const { turn } = addTurn(changed);
    void changed.steps?.becomeAlone();
    executor.add(turn, fakeCall('b'));
    expect(heard('executing')).toEqual(['a']);
  });

  it('goes on at once when it is alone already', async () => {
    const { addTurn } = executorUnderTest();
    const changed = fakeCall('a');
    addTurn(changed);
    await expect(changed.steps?.becomeAlone()).resolves.toBeUndefined();
  });

  it('goes one by one where several changed, the earliest first', async () => {
    const { addTurn } = executorUnderTest();
    const [one, two] = fakes('a', 'b');
    addTurn(one, two);
    const alone: string[] = [];
    void two.steps?.becomeAlone().then(() => alone.push('b'));
    void one.steps?.becomeAlone().then(() => alone.push('a'));
    await afterMicrotasks();
    expect(alone).toEqual(['a']);
    await one.succeed();
    expect(alone).toEqual(['a', 'b']);
  });

  it('waits no longer once its call is cancelled', async () => {
    const { executor, addTurn } = executorUnderTest();
    const [changed, neighbour] = fakes('a', 'b');
    const { calls } = addTurn(changed, neighbour);
    const alone = changed.steps?.becomeAlone();
    executor.cancel(calls.slice(0, 1), 'cancelled', 'By the client');
    await expect(alone).resolves.toBeUndefined();
    expect(changed.isAborted).toBe(true);
  });

  it('sees the modifiers of those that ran before it', async () => {
    const { addTurn, told } = executorUnderTest();
    const [before, changed] = fakes('a', 'b');
    addTurn(before, changed);
    void changed.steps?.becomeAlone().then(() => told.push('alone'));
    await before.succeed(modifying('a'));
    expect(told.indexOf('modify a')).toBeGreaterThan(-1);
    expect(told.indexOf('modify a')).toBeLessThan(told.indexOf('alone'));
  });
});

describe('an input that became unsafe, among modifiers', () => {
  it('does not see those of later calls, which a discard may still drop', async () => {
    const { executor, addTurn, heard } = executorUnderTest();
    const [changed, later] = fakes('a', 'b');
    addTurn(changed);
    const { turn } = addTurn(later);
    await later.succeed(modifying('b'));
    await changed.steps?.becomeAlone();
    expect(heard('modify')).toEqual([]);
    executor.discardTurn(turn);
    await changed.succeed(modifying('a'));
    expect(heard('modify')).toEqual(['a']);
  });
});

describe('results', () => {
  it('leave in the order in which the blocks were accepted', async () => {
    const { addTurn, heard } = executorUnderTest();
    const [one, two, three] = fakes('a', 'b', 'c');
    addTurn(one, two, three);
    await three.succeed();
    await two.succeed();
    expect(heard('yield')).toEqual([]);
    await one.succeed();
    expect(heard('yield')).toEqual(['a ok', 'b ok', 'c ok']);
  });

  it('hold one turn up for another that was accepted earlier', async () => {
    const { executor, heard } = executorUnderTest();
    const [one, two] = fakes('a', 'b');
    executor.add(executor.openTurn(), one);
    executor.add(executor.openTurn(), two);
    await two.succeed();
    expect(heard('yield')).toEqual([]);
    await one.succeed();
    expect(heard('yield')).toEqual(['a ok', 'b ok']);
  });

  it('do not wait for an open turn with nothing left to yield', async () => {
    const { executor, addTurn, heard } = executorUnderTest();
    executor.openTurn();
    const call = fakeCall('a');
    addTurn(call);
    await call.succeed();
    expect(heard('yield')).toEqual(['a ok']);
  });

  it('turn a fault of the runnable into a failed call', async () => {
    const { addTurn, heard } = executorUnderTest();
    const broken = fakeCall('a');
    addTurn(broken);
    await broken.reject(new Error('a bug'));
    expect(heard('yield')).toEqual(['a tool_failed']);
  });

  it('carry how long the call took, not how long it stood in line', async () => {
    const { addTurn } = executorUnderTest();
    const [slow, quick] = fakes('a', 'b');
    const { calls } = addTurn(slow, quick);
    await quick.succeed();
    const completedMs = calls[1]?.completedMs;
    await slow.succeed();
    expect(calls[1]?.completedMs).toBe(completedMs);
  });
});

describe('context modifiers', () => {
  it('of a serial call apply before the next call starts', async () => {
    const { addTurn, told } = executorUnderTest();
    const [one, two] = fakes('A', 'B');
    addTurn(one, two);
    await one.succeed(modifying('A'));
    expect(told.slice(-3)).toEqual(['modify A', 'yield A ok', 'executing B']);
  });

  it('of concurrent calls wait until nothing executes, and apply in block order', async () => {
    const { addTurn, heard } = executorUnderTest();
    const [one, two, three] = fakes('a', 'b', 'c');
    addTurn(one, two, three);
    await three.succeed(modifying('c'));
    await one.succeed(modifying('a'));
    expect(heard('modify')).toEqual([]);
    await two.succeed();
    expect(heard('modify')).toEqual(['a', 'c']);
  });

  it('of concurrent calls apply before the next unsafe call starts', async () => {
    const { addTurn, told } = executorUnderTest();
    const [one, unsafe] = fakes('a', 'B');
    addTurn(one, unsafe);
    await one.succeed(modifying('a'));
    expect(told.indexOf('modify a')).toBeLessThan(told.indexOf('executing B'));
  });

  it('of a failed call are dropped', async () => {
    const { addTurn, heard } = executorUnderTest();
    const failing = fakeCall('A');
    addTurn(failing);
    await failing.fail('tool_failed', modifying('A'));
    expect(heard('modify')).toEqual([]);
  });

  it('of a call that was never logged are dropped', async () => {
    const { executor, addTurn, heard } = executorUnderTest();
    const [done, running] = fakes('a', 'b');
    const { calls } = addTurn(done, running);
    await done.succeed(modifying('a'));
    executor.forget(calls);
    await running.succeed(modifying('b'));
    expect(heard('modify')).toEqual([]);
  });
});

describe('cancelling', () => {
  it('ends a queued call at once and leaves the others', () => {
    const { executor, addTurn, heard } = executorUnderTest();
    const { calls } = addTurn(...fakes('A', 'B', 'C'));
    const cancelled = executor.cancel(calls.slice(1, 2), 'cancelled', 'By the client');
    expect(cancelled.map(({ runnable }) => runnable.toolUseId)).toEqual(['B']);
    expect(heard('completed')).toEqual(['B']);
  });

  it('tells a running call and waits for its own end', async () => {
    const { executor, addTurn, heard } = executorUnderTest();
    const running = fakeCall('A');
    const { calls } = addTurn(running);
    executor.cancel(calls, 'cancelled', 'By the client');
    expect(running.abortCode).toBe('cancelled');
    expect(heard('yield')).toEqual([]);
    await running.fail('cancelled');
    expect(heard('yield')).toEqual(['A cancelled']);
  });

  it('leaves a call alone that has completed', async () => {
    const { executor, addTurn, heard } = executorUnderTest();
    const [one, two] = fakes('a', 'b');
    const { calls } = addTurn(one, two);
    await two.succeed();
    expect(executor.cancel(calls.slice(1), 'cancelled', 'By the client')).toEqual([]);
    await one.succeed();
    expect(heard('yield')).toEqual(['a ok', 'b ok']);
  });

  it('of a turn ends its later blocks too, and no other turn', () => {
    const { executor, addTurn, heard } = executorUnderTest();
    const [one, other] = fakes('a', 'b');
    const { turn } = addTurn(one);
    addTurn(other);
    executor.cancelTurn(turn, 'cancelled', 'By the client');
    executor.add(turn, fakeCall('late'));
    expect(heard('executing')).toEqual(['a', 'b']);
    expect([one.abortCode, other.abortCode]).toEqual(['cancelled', undefined]);
    expect(heard('completed')).toEqual(['late']);
  });

  it('lets the next call start only when the cancelled one has ended', async () => {
    const { executor, addTurn, heard } = executorUnderTest();
    const [running, next] = fakes('A', 'B');
    const { calls } = addTurn(running, next);
    executor.cancel(calls.slice(0, 1), 'cancelled', 'By the client');
    expect(heard('executing')).toEqual(['A']);
    await running.fail('cancelled');
    expect(heard('executing')).toEqual(['A', 'B']);
  });

  it('of the session ends all turns and whatever is still added', () => {
    const { executor, addTurn, heard } = executorUnderTest();
    const [one, queued] = fakes('A', 'B');
    addTurn(one);
    addTurn(queued);
    executor.end('cancelled', 'The session was removed');
    addTurn(fakeCall('late'));
    expect(one.abortCode).toBe('cancelled');
    expect(heard('completed')).toEqual(['B', 'late']);
  });
});

describe('a failed call that cancels its siblings', () => {
  it('takes down those that execute, those that wait and those that arrive later', async () => {
    const { executor, addTurn, heard } = executorUnderTest();
    const failing = fakeCall('a', { abortsSiblings: () => true });
    const [beside, waiting] = fakes('b', 'C');
    const { turn } = addTurn(failing, beside, waiting);
    await failing.fail('tool_failed');
    executor.add(turn, fakeCall('late'));
    expect(beside.abortCode).toBe('sibling_aborted');
    await beside.fail('sibling_aborted');
    expect(heard('yield')).toEqual(['a tool_failed', 'b sibling_aborted', 'C sibling_aborted', 'late sibling_aborted']);
  });

  it('leaves what is finished as it is', async () => {
    const { addTurn, heard } = executorUnderTest();
    const first = fakeCall('a');
    const done = fakeCall('b');
    const failing = fakeCall('c', { abortsSiblings: () => true });
    addTurn(first, done, failing);
    await done.succeed();
    await failing.fail();
    await first.fail('sibling_aborted');
    expect(heard('yield')).toEqual(['a sibling_aborted', 'b ok', 'c tool_failed']);
  });

  it('is named in the text of each sibling', async () => {
    const { addTurn } = executorUnderTest();
    const failing = shell('A');
    const { calls } = addTurn(failing, fakeCall('b'));
    await failing.fail();
    expect(calls[1]?.outcome?.content).toContain('Tool(A)');
  });

  it.each(['tool_failed', 'timeout', 'output_limit'] as const)('does so when it ended in %s', async (code) => {
    const { addTurn, heard } = executorUnderTest();
    const failing = shell('A');
    addTurn(failing, fakeCall('b'));
    await failing.fail(code);
    expect(heard('yield')).toEqual([`A ${code}`, 'b sibling_aborted']);
  });

  it.each([
    ['permission_denied', false],
    ['invalid_input', false],
    ['cancelled', true],
    ['tool_failed', false],
  ] as const)('does not when it ended in %s and whether it ran is %s', async (code, didRun) => {
    const { addTurn, heard } = executorUnderTest();
    const failing = shell('A');
    addTurn(failing, fakeCall('b'));
    await failing.fail(code, { didRun });
    expect(heard('executing')).toEqual(['A', 'b']);
  });

  it('does not touch other turns', async () => {
    const { addTurn, heard } = executorUnderTest();
    const failing = shell('A');
    addTurn(failing);
    addTurn(fakeCall('b'));
    await failing.fail();
    expect(heard('executing')).toEqual(['A', 'b']);
  });

  it('is a matter of its own tool: the errors of others never spread', async () => {
    const { addTurn, heard } = executorUnderTest();
    const failing = fakeCall('A');
    addTurn(failing, fakeCall('b'));
    await failing.fail();
    expect(heard('executing')).toEqual(['A', 'b']);
  });
});

describe('a tool that ends the turn', () => {
  it('cancels what is left of it, with its reason', async () => {
    const { addTurn, heard } = executorUnderTest();
    const ending = fakeCall('A');
    const { calls } = addTurn(ending, fakeCall('b'));
    await ending.succeed({ endsTurn: 'the plan was refused' });
    expect(heard('yield')).toEqual(['A ok', 'b cancelled']);
    expect(calls[1]?.outcome?.content).toContain('the plan was refused');
  });
});

describe('discarding a turn', () => {
  it('gives each of its calls an empty result at once, whatever still runs', () => {
    const { executor, addTurn, heard } = executorUnderTest();
    const running = fakeCall('A');
    const { turn, calls } = addTurn(running, fakeCall('b'));
    executor.discardTurn(turn);
    expect(running.abortCode).toBe('discarded');
    expect(heard('yield')).toEqual(['A discarded', 'b discarded']);
    expect(calls.map(({ outcome }) => outcome?.content)).toEqual(['', '']);
  });

  it('never lets the real result of a discarded call leave', async () => {
    const { executor, addTurn, heard } = executorUnderTest();
    const running = fakeCall('A');
    const { turn } = addTurn(running);
    executor.discardTurn(turn);
    await running.succeed(modifying('A'));
    expect(heard('yield')).toEqual(['A discarded']);
    expect(heard('modify')).toEqual([]);
  });

  it('drops a result that was only waiting for its turn in line', async () => {
    const { executor, addTurn, heard } = executorUnderTest();
    const [slow, done] = fakes('a', 'b');
    const { turn } = addTurn(slow, done);
    await done.succeed(modifying('b'));
    executor.discardTurn(turn);
    await slow.succeed();
    expect(heard('yield')).toEqual(['a discarded', 'b discarded']);
    expect(heard('modify')).toEqual([]);
  });

  it('keeps an unsafe call waiting until the discarded one has really ended', async () => {
    const { executor, addTurn, heard } = executorUnderTest();
    const running = fakeCall('A');
    const { turn } = addTurn(running);
    executor.discardTurn(turn);
    addTurn(fakeCall('B'));
    expect(heard('executing')).toEqual(['A']);
    expect(executor.isBusy).toBe(true);
    await running.fail('discarded');
    expect(heard('executing')).toEqual(['A', 'B']);
  });
});

describe('an interrupt', () => {
  it('cancels what is queued and what says so, and lets the rest go on', async () => {
    const { executor, addTurn, heard } = executorUnderTest();
    const yields = fakeCall('a', { interruptBehavior: () => 'cancel' });
    const stays = fakeCall('b');
    addTurn(yields, stays, fakeCall('C'));
    const { cancelled, continuing } = executor.interrupt();
    expect(cancelled.map(({ runnable }) => runnable.toolUseId)).toEqual(['a', 'C']);
    expect(continuing.map(({ runnable }) => runnable.toolUseId)).toEqual(['b']);
    expect([yields.isAborted, stays.isAborted]).toEqual([true, false]);
    await yields.fail('cancelled');
    await stays.succeed();
    expect(heard('yield')).toEqual(['a cancelled', 'b ok', 'C cancelled']);
  });

  it('lets a call go on whose answer is an error', () => {
    const { executor, addTurn } = executorUnderTest();
    const interruptBehavior = () => {
      throw new Error('no idea');
    };
    addTurn(fakeCall('a', { interruptBehavior }));
    expect(executor.interrupt().continuing).toHaveLength(1);
  });
});

describe('forgetting', () => {
  it('leaves no trace of a call that could not be logged', async () => {
    const { executor, addTurn, heard } = executorUnderTest();
    const [refused, queued] = fakes('A', 'b');
    const { calls } = addTurn(refused, queued);
    executor.forget(calls);
    await refused.succeed(modifying('A'));
    expect(refused.isAborted).toBe(true);
    expect([heard('yield'), heard('modify'), executor.unyieldedCount]).toEqual([[], [], 0]);
    expect(executor.isBusy).toBe(false);
  });

  it('releases the results that stood behind it', async () => {
    const { executor, addTurn, heard } = executorUnderTest();
    const [refused, done] = fakes('a', 'b');
    const { calls } = addTurn(refused, done);
    await done.succeed();
    executor.forget(calls.slice(0, 1));
    expect(heard('yield')).toEqual(['b ok']);
  });
});
