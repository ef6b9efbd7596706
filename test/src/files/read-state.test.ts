import { describe, expect, it } from 'vitest';
import { emptyReadState } from '../../../src/files/read-state.ts';

const record = (path: string, mtimeMs = 1) => ({ path, mtimeMs, sizeBytes: 1, isPartial: false });

describe('a read state', () => {
  it('knows what was read and leaves the one before unchanged', () => {
    const before = emptyReadState(10);
    const after = before.with(record('/a'));
    expect(after.get('/a')?.mtimeMs).toBe(1);
    expect(before.get('/a')).toBeUndefined();
  });

  it('keeps the newest record of a file', () => {
    let state = emptyReadState(100);
    for (let index = 0; index < 100; index++) state = state.with(record(`/file-${index % 7}`, index));
    expect(state.get('/file-1')?.mtimeMs).toBe(99);
  });

  it('forgets the oldest beyond its limit', () => {
    let state = emptyReadState(50);
    for (let index = 0; index < 200; index++) state = state.with(record(`/file-${index}`));
    expect(state.get('/file-0')).toBeUndefined();
    expect(state.get('/file-199')).toBeDefined();
    expect(state.get('/file-160')).toBeDefined();
  });

  it('counts a file read again as new', () => {
    let state = emptyReadState(64).with(record('/kept'));
    for (let index = 0; index < 200; index++) state = state.with(record(`/file-${index}`)).with(record('/kept'));
    expect(state.get('/kept')).toBeDefined();
  });
});
