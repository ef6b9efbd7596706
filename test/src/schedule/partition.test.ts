/** The pure statement of which calls run side by side. */
import { describe, expect, it } from 'vitest';
import { partitionToolCalls } from '../../../src/schedule/partition.ts';

const isRead = (name: string) => name === 'Read';
const groupsOf = (names: readonly string[]) => partitionToolCalls(names, isRead).map(({ calls }) => calls);

describe('partitionToolCalls', () => {
  it('puts Read, Read, mutating Bash, Read, Read into three groups', () => {
    expect(groupsOf(['Read', 'Read', 'Bash', 'Read', 'Read'])).toEqual([['Read', 'Read'], ['Bash'], ['Read', 'Read']]);
  });

  it('leaves every unsafe call alone', () => {
    expect(groupsOf(['Bash', 'Bash', 'Edit'])).toEqual([['Bash'], ['Bash'], ['Edit']]);
  });

  it('has no groups for no calls', () => {
    expect(partitionToolCalls([], isRead)).toEqual([]);
  });

  it('counts a call whose safety cannot be told as unsafe', () => {
    const broken = () => {
      throw new Error('no idea');
    };
    expect(partitionToolCalls(['a', 'b'], broken).map(({ isConcurrencySafe }) => isConcurrencySafe)).toEqual([
      false,
      false,
    ]);
  });
});
