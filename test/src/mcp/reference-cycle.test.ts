import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import { hasReferenceCycle } from '../../../src/mcp/json-schema-input.ts';

const cases: [string, JsonObject, boolean][] = [
  ['a plain object', { type: 'object', properties: { a: { type: 'string' } } }, false],
  ['a tree', { properties: { child: { $ref: '#' } } }, false],
  [
    'a list of trees',
    { $defs: { node: { properties: { nodes: { items: { $ref: '#/$defs/node' } } } } }, $ref: '#/$defs/node' },
    false,
  ],
  ['itself', { $ref: '#' }, true],
  ['itself among others', { anyOf: [{ type: 'object' }, { not: { $ref: '#' } }] }, true],
  [
    'a pair',
    {
      $defs: { a: { $ref: '#/$defs/b' }, b: { allOf: [{ $ref: '#/$defs/a' }] } },
      properties: { x: { $ref: '#/$defs/a' } },
    },
    true,
  ],
  ['an escaped name', { $defs: { 'a/b': { $ref: '#/$defs/a~1b' } } }, true],
  ['nowhere', { $ref: '#/$defs/missing', $comment: '%' }, false],
];

describe('references of a schema', () => {
  test.each(cases)('that lead to %s', (_to, schema, isCycle) => {
    expect(hasReferenceCycle(schema)).toBe(isCycle);
  });

  test('in a very long chain count as one that never ends', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, index) => [`d${index}`, { $ref: `#/$defs/d${index + 1}` }]),
    );
    expect(hasReferenceCycle({ $defs, $ref: '#/$defs/d0' })).toBe(true);
  });
});
