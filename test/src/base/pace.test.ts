import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createRateLimit, paceChanges } from '../../../src/base/pace.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

describe('a rate limit', () => {
  it('lets so many pass in any span of its length, and counts none that it refuses', () => {
    const mayPass = createRateLimit(2, 1_000);
    const passed = () => [mayPass(), mayPass(), mayPass()];
    expect(passed()).toEqual([true, true, false]);
    vi.advanceTimersByTime(999);
    expect(mayPass()).toBe(false);
    vi.advanceTimersByTime(1);
    expect(passed()).toEqual([true, true, false]);
    vi.advanceTimersByTime(500);
    expect(mayPass()).toBe(false);
  });
});

describe('changes', () => {
  it('are told at once, and once more where there were others meanwhile', () => {
    const told: string[] = [];
    const changed = paceChanges(1_000, 2, (key) => told.push(key));
    for (const key of ['a', 'a', 'a', 'b', 'c']) changed(key);
    expect(told).toEqual(['a', 'b']);
    vi.advanceTimersByTime(1_000);
    expect(told).toEqual(['a', 'b', 'a']);
    vi.advanceTimersByTime(1_000);
    changed('c');
    expect(told).toEqual(['a', 'b', 'a', 'c']);
  });
});
