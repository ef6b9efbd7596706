/** Progress is prompt at first and then paced. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { MAX_PROGRESS_CHARS } from '../../../src/tool/tool.ts';
import { paceOutput } from '../../../src/process/paced-output.ts';

describe('a paced output', () => {
  const shown: string[] = [];
  const pace = () => paceOutput((stream, text) => shown.push(`${stream}:${text}`));

  beforeEach(() => {
    shown.length = 0;
    vi.useFakeTimers();
  });
  afterEach(() => vi.useRealTimers());

  it('shows the first piece at once and the rest together', () => {
    const output = pace();
    for (const text of ['a', 'b', 'c']) output.add('stdout', text);
    expect(shown).toEqual(['stdout:a']);
    vi.advanceTimersByTime(100);
    expect(shown).toEqual(['stdout:a', 'stdout:bc']);
  });

  it('shows one stream an interval, the one that waits longest first', () => {
    const output = pace();
    output.add('stdout', 'a');
    output.add('stderr', 'b');
    output.add('stdout', 'c');
    vi.advanceTimersByTime(250);
    expect(shown).toEqual(['stdout:a', 'stderr:b', 'stdout:c']);
  });

  it('leaves out what is too much and says how much', () => {
    const output = pace();
    output.add('stdout', 'a');
    output.add('stdout', '0'.repeat(MAX_PROGRESS_CHARS));
    output.add('stdout', 'xyz');
    vi.advanceTimersByTime(100);
    expect(shown[1]).toBe(`stdout:[3 characters not shown]\n${'0'.repeat(MAX_PROGRESS_CHARS - 3)}xyz`);
  });

  it('shows the rest when it is finished and leaves no timer', () => {
    const output = pace();
    for (const text of ['a', 'b']) output.add('stdout', text);
    output.finish();
    expect(shown).toEqual(['stdout:a', 'stdout:b']);
    expect(vi.getTimerCount()).toBe(0);
  });
});
