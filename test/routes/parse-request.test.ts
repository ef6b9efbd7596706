/** What a request may hold. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { parseRequest } from '../../routes/parse-request.ts';

const schema = z.strictObject({
  list: z.array(z.strictObject({ id: z.string() })).optional(),
  inner: z.json().optional(),
});
const parse = (value: unknown) => () => parseRequest(schema, value, 'the body');

test.each([
  ['list', { list: Array<number>(10_001).fill(0) }],
  ['inner.list', { inner: { list: Array<number>(10_001).fill(0) } }],
])('a list that nothing has a use for is refused before its entries are looked at: %s', (path, value) => {
  expect(parse(value)).toThrow(`Cannot read the body: "${path}": holds 10001 entries, and 10000 are read at most`);
});

test('of many entries that do not fit the first are named', () => {
  expect(parse({ list: Array<number>(5_000).fill(0) })).toThrow(
    /"list\[0\]"[^;]*(; "list\[\d+\]"[^;]*){18}; "list\[19\]"[^;]*$/,
  );
});
