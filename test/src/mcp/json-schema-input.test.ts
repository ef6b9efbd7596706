import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import { jsonSchemaInput } from '../../../src/mcp/json-schema-input.ts';
import { cpuMs } from '../../helpers/cpu-time.ts';

/** The issues of an input, as `path: message`. */
function issuesOf(schema: JsonObject, input: unknown): readonly string[] {
  const parsed = jsonSchemaInput(schema).safeParse(input);
  return parsed.success ? [] : parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
}

const order: JsonObject = {
  type: 'object',
  required: ['id', 'lines'],
  additionalProperties: false,
  properties: {
    id: { type: 'string', pattern: '^[a-z]+$' },
    lines: {
      type: 'array',
      items: { type: 'object', required: ['count'], properties: { count: { type: 'integer', minimum: 1 } } },
    },
    mail: { type: 'string', format: 'email' },
  },
};

describe('an input judged by a JSON Schema', () => {
  test('passes as the very object it was', () => {
    const input = { id: 'abc', lines: [{ count: 2 }] };
    expect(jsonSchemaInput(order).parse(input)).toBe(input);
  });

  test('has each issue at its path', () => {
    const input = { id: 'ABC', lines: [{ count: 0 }, {}], mail: 'nobody', extra: 1 };
    expect(issuesOf(order, input)).toEqual([
      ': unknown field `extra`; remove it',
      'id: must match pattern "^[a-z]+$"',
      'lines.0.count: must be >= 1',
      'lines.1.count: required',
      'mail: must match format "email"',
    ]);
  });

  test.each([null, 7, 'text', [1]])('that is %j is no object', (input) => {
    expect(issuesOf({ type: 'object' }, input)).toContain(': expected an object');
  });

  test('is read by the draft its schema names', () => {
    const pair = [{ type: 'string' }, { type: 'number' }];
    const draft7 = { $schema: 'http://json-schema.org/draft-07/schema#', properties: { pair: { items: pair } } };
    const draft2020 = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      properties: { pair: { prefixItems: pair } },
    };

    for (const schema of [draft7, draft2020]) {
      expect(issuesOf(schema, { pair: ['a', 1] })).toEqual([]);
      expect(issuesOf(schema, { pair: [1, 1] })).toEqual(['pair.0: must be string']);
    }
  });

  test('may be a tree as deep as it likes', () => {
    const node = {
      type: 'object',
      properties: { children: { type: 'array', items: { $ref: '#' } }, name: { type: 'string' } },
    };
    expect(issuesOf(node, { children: [{ children: [{ name: 7 }] }] })).toEqual([
      'children.0.children.0.name: must be string',
    ]);
  });

  test('is judged at once where its schema says that it is not', () => {
    expect(issuesOf({ $async: true, required: ['a'] }, {})).toEqual(['a: required']);
  });

  test('is left to its server where a pattern refers back by name', () => {
    const schema = { properties: { a: { pattern: '^(?<q>["\']).*\\k<q>$' } } };
    expect(issuesOf(schema, { a: '"quoted"' })).toEqual([]);
  });

  test('is judged though a schema before it had spent its patterns', () => {
    const spent = Array.from({ length: 30 }, (_, at) => [`x${at}`, { pattern: `^(x${at}{0,900})$` }] as const);
    const a = { pattern: '^[a-z]{3}$' };
    issuesOf({ properties: { ...Object.fromEntries(spent), a } }, { a: '123' });
    expect(issuesOf({ properties: { a } }, { a: '123' })).toHaveLength(1);
  });

  test('is refused when the schema itself cannot be used', () => {
    expect(issuesOf({ properties: { a: { $ref: '#/nowhere' } } }, {})[0]).toContain('the schema of this tool');
    expect(issuesOf({ $ref: 'https://example.com/remote.json' }, {})[0]).toContain('the schema of this tool');
  });

  test('does not meet another schema of the same name', () => {
    const named = (type: string): JsonObject => ({ $id: 'urn:same', properties: { a: { type } } });
    expect(issuesOf(named('string'), { a: 'x' })).toEqual([]);
    expect(issuesOf(named('number'), { a: 'x' })).toEqual(['a: must be number']);
  });

  test('of very many values is left to its server', () => {
    const schema = { properties: { a: { items: { type: 'string' } }, b: { uniqueItems: true } } };
    const many = Array.from({ length: 300_000 }, (_, value) => ({ value }));
    const beganAt = performance.now();
    expect(issuesOf(schema, { a: many })).toEqual([]);
    expect(issuesOf(schema, { b: many })).toEqual([]);
    expect(performance.now() - beganAt).toBeLessThan(500);
    expect(issuesOf(schema, { a: many.slice(0, 900) })).toHaveLength(900);
  });

  test('cannot freeze the process with many patterns on many values', () => {
    const allOf = Array.from({ length: 300 }, (_, index) => ({ pattern: `^a*a*${index}` }));
    const type = jsonSchemaInput({ properties: { a: { items: { allOf } } } });
    const input = { a: Array.from({ length: 1_000 }, () => 'a'.repeat(200)) };
    expect(cpuMs(() => type.safeParse(input))).toBeLessThan(2_000);
  });

  test('tests a pattern that would freeze a backtracking engine', () => {
    const schema = {
      properties: { a: { type: 'string', pattern: '^(a+)+$' }, b: { type: 'string', pattern: 'x*x*x*y' } },
    };
    const input = { a: `${'a'.repeat(40)}!`, b: 'x'.repeat(10_000) };
    expect(cpuMs(() => expect(issuesOf(schema, input)).toHaveLength(2))).toBeLessThan(1_000);
  });

  test('leaves texts to their server that together are too long for its pattern', () => {
    const quadratic = { properties: { a: { items: { type: 'string', pattern: '^a*a*$' } } } };
    const input = { a: Array.from({ length: 1_900 }, () => `${'a'.repeat(9_000)}!`) };
    let refused = 0;
    expect(cpuMs(() => (refused = issuesOf(quadratic, input).length))).toBeLessThan(1_000);
    expect(refused).toBeGreaterThan(0);
    expect(refused).toBeLessThan(100);
  });
});
