/** A result's text is fitted to its room. */
import { describe, expect, it } from 'vitest';
import { fitResult, type ResultRoom } from '../../../src/call/fit-result.ts';
import type { ResultBudget } from '../../../src/call/outcome.ts';
import { GauntletError } from '../../../src/base/errors.ts';
import { resultText } from '../../../src/wire/result-text.ts';

const spilling: ResultBudget = { limitChars: 1_000, isInTurnSum: true, isCut: false };
const cutting: ResultBudget = { limitChars: Infinity, isInTurnSum: true, isCut: true };

function room(changes: Partial<ResultRoom> = {}) {
  const written: string[] = [];
  const spill = (text: string) => {
    written.push(text);
    return Promise.resolve({ path: '/session/a.txt', chars: text.length });
  };
  const limits = { resultChars: 800, previewChars: 100, textBytes: 400_000 };
  return { written, room: { remainingChars: 200_000, ...limits, spill, ...changes } };
}

describe('fitResult', () => {
  it('gives a text of no tool as much room as any result has', async () => {
    const budget = { isInTurnSum: true, isCut: false };
    expect((await fitResult('x'.repeat(800), budget, room().room)).spilled).toBeUndefined();
    expect((await fitResult('x'.repeat(801), budget, room().room)).spilled?.chars).toBe(801);
  });

  it('leaves a text that fits untouched', async () => {
    const { room: space, written } = room();
    const content = [{ type: 'text' as const, text: 'x'.repeat(1_000) }];
    expect(await fitResult(content, spilling, space)).toEqual({ content, resultChars: 1_000 });
    expect(written).toEqual([]);
  });

  it('writes one that is too large whole and shows its beginning, size and path', async () => {
    const { room: space, written } = room();
    const text = `${'a'.repeat(100)}${'b'.repeat(901)}`;
    const { content, spilled, resultChars } = await fitResult(text, spilling, space);
    expect(written).toEqual([text]);
    expect(spilled).toEqual({ path: '/session/a.txt', chars: 1_001 });
    expect(content).toContain(`/session/a.txt`);
    expect(content).toContain(`${'a'.repeat(100)}\n...`);
    expect(content).not.toContain('b');
    expect(resultChars).toBe(String(content).length);
  });

  it('shows the beginning and the end of what failed, and how much is left out between', async () => {
    const text = `first${'x'.repeat(2_000)}last`;
    const { content, resultChars } = await fitResult(text, { ...spilling, showsEnd: true }, room().room);
    const shown = /Preview \(beginning and end\):\n(first\w+)\n\[(\d+) of 2009 characters left out\]\n(\w+last)$/;
    const [, head = '', leftOut, end = ''] = shown.exec(String(content)) ?? [];
    expect(head.length + Number(leftOut) + end.length).toBe(2_009);
    expect(resultChars).toBe(String(content).length);
  });

  it('shows both ends of what failed in what the turn has left, and where the disk is full', async () => {
    const text = `first${'x'.repeat(2_000)}last`;
    const small = await fitResult(text, { ...spilling, showsEnd: true }, room({ remainingChars: 400 }).room);
    expect(small.resultChars).toBeLessThanOrEqual(400);
    const full = room({ spill: () => Promise.reject(new GauntletError('spill_failed', 'no space')) }).room;
    const lost = await fitResult(text, { ...spilling, showsEnd: true }, full);
    expect(lost.content).toMatch(/^first[^]*left out\]\nx+last\n\[PARTIAL/);
  });

  it('shows a failed text once where it has nowhere to go and fits all the same', async () => {
    const spill = () => Promise.reject(new GauntletError('spill_failed', 'no space'));
    const text = Array.from({ length: 45 }, (_, line) => `line ${line}`).join('\n');
    const { content } = await fitResult(
      text,
      { ...spilling, showsEnd: true },
      { ...room({ spill, remainingChars: 100 }).room, previewChars: 2_000 },
    );
    expect(content).toContain(`${text}\n[PARTIAL`);
  });

  it('spills what fits its own limit but not what the turn has left', async () => {
    const { room: space, written } = room({ remainingChars: 400 });
    expect((await fitResult('x'.repeat(500), spilling, space)).spilled?.chars).toBe(500);
    expect(written).toHaveLength(1);
  });

  it('stays within what the turn has left, notice and all', async () => {
    for (const budget of [spilling, cutting]) {
      const { room: space } = room({ remainingChars: 400 });
      expect((await fitResult('line\n'.repeat(500), budget, space)).resultChars).toBeLessThanOrEqual(400);
    }
  });

  it('asks nothing of the turn for a tool that is outside its sum', async () => {
    const { room: space } = room({ remainingChars: 0 });
    expect((await fitResult('x'.repeat(900), { ...spilling, isInTurnSum: false }, space)).spilled).toBeUndefined();
  });

  it('leaves a text as it is that is shorter than what would stand in its place', async () => {
    const { room: space } = room({ remainingChars: 0 });
    expect(await fitResult('done', spilling, space)).toEqual({ content: 'done', resultChars: 4 });
  });

  it('holds the ceiling of bytes for texts of few but wide characters', async () => {
    const { room: space } = room({ textBytes: 2_000 });
    expect((await fitResult('€'.repeat(900), spilling, space)).spilled?.chars).toBe(900);
  });

  it('cuts a tool that limits itself to whole lines, and says so', async () => {
    const { room: space, written } = room({ remainingChars: 300 });
    const text = Array.from({ length: 100 }, (_, line) => `line ${line}`).join('\n');
    const { content } = await fitResult(text, cutting, space);
    const [last, notice] = String(content).split('\n').slice(-2);
    expect(text).toContain(`${last}\n`);
    expect(notice).toMatch(/^\[PARTIAL: .* of 789 characters shown/);
    expect(written).toEqual([]);
  });

  it('cuts a page to the ceiling of bytes too', async () => {
    const { room: space } = room({ textBytes: 4_000 });
    const { content } = await fitResult('😀'.repeat(5_000), cutting, space);
    expect(Buffer.byteLength(String(content))).toBeLessThan(4_000);
  });

  it('keeps what fits and says why the rest is lost when the disk refuses', async () => {
    const spill = () => Promise.reject(new GauntletError('spill_failed', 'no space left'));
    const { content, spilled } = await fitResult('x'.repeat(2_000), spilling, room({ spill }).room);
    expect(spilled).toBeUndefined();
    expect(content).toBe(
      `${'x'.repeat(1_000)}\n[PARTIAL: 2000 characters, the rest is lost: spill_failed: no space left]`,
    );
  });

  it('keeps images beside a text that was spilled', async () => {
    const image = {
      type: 'image' as const,
      source: { type: 'base64' as const, media_type: 'image/png', data: 'AA==' },
    };
    const { content } = await fitResult([{ type: 'text', text: 'x'.repeat(2_000) }, image], spilling, room().room);
    expect(content).toHaveLength(2);
    expect(content).toContainEqual(image);
    expect(resultText(content)).toContain('/session/a.txt');
  });
});
