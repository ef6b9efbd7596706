import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { splitLines } from '../../../src/mcp/stdio-transport.ts';

/** Feed `chunks` through a splitter. */
function split(chunks: readonly Buffer[], maxBytes: number) {
  const lines: string[] = [];
  let overflows = 0;
  const push = splitLines(
    maxBytes,
    (line) => lines.push(line.toString()),
    () => overflows++,
  );
  chunks.forEach((chunk) => push(chunk));
  return { lines, overflows };
}

describe('lines', () => {
  test('are the same however the bytes are cut', () => {
    const text = fc.array(fc.stringMatching(/^[aé\n]{0,12}$/), { maxLength: 20 });
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 7 }), (parts, size) => {
        const whole = Buffer.from(`${parts.join('')}\n`);
        const chunks = Array.from({ length: Math.ceil(whole.length / size) }, (_, i) =>
          whole.subarray(i * size, (i + 1) * size),
        );
        expect(split(chunks, 1_000).lines).toEqual(whole.toString().split('\n').slice(0, -1));
      }),
    );
  });

  test('that grow too long end the reading, once', () => {
    const chunk = Buffer.from('xxxxxx');
    expect(split([Buffer.from('ok\n'), chunk, chunk, Buffer.from('\nlate\n')], 10)).toEqual({
      lines: ['ok'],
      overflows: 1,
    });
  });
});
