/** Cancellation is a tree: session, turn, call. */
import { describe, expect, it } from 'vitest';
import { GauntletError } from '../../../src/base/errors.ts';
import { afterMicrotasks } from '../../helpers/fake-call.ts';
import { abortTree } from '../../../src/base/abort-tree.ts';

describe('abortTree', () => {
  it('ends everything below an aborted node, with its reason', () => {
    const session = abortTree();
    const call = session.branch().branch();
    session.abort('cancelled', 'The session ended');
    expect(call.signal.reason).toEqual(new GauntletError('cancelled', 'The session ended'));
    expect(call.abortedBy).toEqual({ code: 'cancelled', message: 'The session ended' });
  });

  it('leaves what stands above and beside alone', () => {
    const session = abortTree();
    const [turn, other] = [session.branch(), session.branch()];
    const call = turn.branch();
    call.abort('cancelled', 'Only this one');
    expect([session, turn, other].map(({ signal }) => signal.aborted)).toEqual([false, false, false]);
  });

  it('keeps the first reason of each node', () => {
    const turn = abortTree();
    const call = turn.branch();
    call.abort('cancelled', 'By the client');
    turn.abort('sibling_aborted', 'By a sibling');
    turn.abort('discarded', '');
    expect(call.abortedBy?.code).toBe('cancelled');
    expect(turn.abortedBy?.code).toBe('sibling_aborted');
  });

  it('gives a branch of an aborted node that is aborted already', () => {
    const turn = abortTree();
    turn.abort('discarded', '');
    expect(turn.branch().signal.aborted).toBe(true);
  });

  it('does not reach a branch that let go', () => {
    const turn = abortTree();
    const call = turn.branch();
    call.release();
    turn.abort('cancelled', 'Too late');
    expect(call.signal.aborted).toBe(false);
  });

  it('holds more turns than a signal may have listeners, without a warning', async () => {
    const session = abortTree();
    const warnings: Error[] = [];
    process.on('warning', (warning) => warnings.push(warning));
    const turns = Array.from({ length: 100 }, () => session.branch());
    session.abort('cancelled', 'All of them');
    await afterMicrotasks();
    expect(turns.every(({ signal }) => signal.aborted)).toBe(true);
    expect(warnings).toEqual([]);
  });
});
