/** Results leave in the order their blocks came in. */
import { describe, expect, it } from 'vitest';
import { inOrder } from '../../../src/schedule/streaming-tool-executor.ts';

function line() {
  const released: (readonly string[])[] = [];
  return { released, order: inOrder<string>((items) => released.push(items)) };
}

describe('inOrder', () => {
  it('holds an early second result until the late first one is there', () => {
    const { released, order } = line();
    order.join('first');
    order.join('second');
    order.finish('second');
    expect(released).toEqual([]);
    order.finish('first');
    expect(released).toEqual([['first', 'second']]);
  });

  it('lets a result leave at once when nothing stands before it', () => {
    const { released, order } = line();
    order.join('first');
    order.join('second');
    order.finish('first');
    expect(released).toEqual([['first']]);
    expect(order.size).toBe(1);
  });

  it('releases what stood behind an item that withdraws', () => {
    const { released, order } = line();
    order.join('gone');
    order.join('second');
    order.finish('second');
    order.withdraw('gone');
    expect(released).toEqual([['second']]);
    expect(order.size).toBe(0);
  });

  it('refuses to finish an item twice, or one that never joined', () => {
    const { order } = line();
    order.join('first');
    order.finish('first');
    expect(() => order.finish('first')).toThrow(RangeError);
    expect(() => order.finish('stranger')).toThrow(RangeError);
  });

  it('ignores the withdrawal of what has left', () => {
    const { released, order } = line();
    order.join('first');
    order.finish('first');
    order.withdraw('first');
    expect(released).toEqual([['first']]);
  });
});
