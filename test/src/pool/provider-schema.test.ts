/** Schemas of MCP servers, as bad as they come, in the form that each provider takes. */
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import { plainSchema } from '../../../src/pool/provider-schema.ts';
import { toolList, type ListVariant } from '../../../src/pool/tool-list.ts';
import { assembleToolPool } from '../../../src/pool/assemble.ts';
import { configuration } from './configuration.ts';
import { plainTool } from '../../helpers/plain-tool.ts';
import { anthropicProblems, geminiProblems, openAiProblems } from '../../helpers/provider-rules.ts';

const text = { type: 'string' };

const USABLE: Readonly<Record<string, JsonObject>> = {
  nothing: { type: 'object' },
  untyped: { properties: { a: text } },
  anything: { type: 'object', properties: { a: {}, b: true } },
  listless: { type: 'object', properties: { list: { type: 'array' } }, required: ['list', 'ghost'] },
  alternatives: {
    oneOf: [
      { type: 'object', properties: { a: text, b: text }, required: ['a', 'b'] },
      { type: 'object', properties: { a: text, c: { type: 'integer', default: 3 } }, required: ['a'] },
    ],
  },
  merged: {
    allOf: [{ $ref: '#/$defs/Base' }, { properties: { b: text } }],
    $defs: { Base: { properties: { a: text } } },
  },
  referenced: {
    type: 'object',
    properties: { point: { $ref: '#/$defs/Point' } },
    required: ['point'],
    additionalProperties: false,
    $defs: { Point: { type: 'object', properties: { x: { type: 'number' } }, additionalProperties: false } },
  },
  places: {
    anyOf: [
      { type: 'object', properties: { a: text, b: { $ref: '#/anyOf/0/properties/a' } } },
      { type: 'object', properties: { c: { $ref: '#/anyOf/0/properties/a' } } },
    ],
  },
  negated: { type: 'object', properties: { a: text }, not: { required: ['a', 'b'] } },
  generic: {
    type: 'object',
    properties: { list: { $ref: '#/definitions/List%3CItem%3E' } },
    definitions: { 'List<Item>': { type: 'array', items: text } },
  },
  recursive: {
    type: 'object',
    properties: { tree: { $ref: '#/definitions/Tree' } },
    definitions: {
      Tree: { type: 'object', properties: { leaves: { type: 'array', items: { $ref: '#/definitions/Tree' } } } },
    },
  },
  map: { type: 'object', properties: { env: { type: 'object', additionalProperties: text } } },
  numbers: {
    type: 'object',
    properties: { n: { enum: [1, 2] }, m: { type: ['integer', 'null'], format: 'int32' }, k: { const: 'x' } },
  },
  nested: {
    type: 'object',
    properties: {
      either: { anyOf: [text, { type: 'null' }] },
      when: { type: 'string', format: 'uri', minLength: 1, default: 'x' },
    },
    required: [],
  },
};

const BROKEN: Readonly<Record<string, JsonObject>> = {
  type: { type: 'object', properties: { a: { type: 'text' } } },
  pattern: { type: 'object', properties: { a: { type: 'string', pattern: '(' } } },
  dangling: { type: 'object', properties: { a: { $ref: '#/$defs/None' } } },
  required: { type: 'object', properties: {}, required: 'a' },
};

const server = { type: 'mcp', name: 's' } as const;
const toolOf = ([name, inputJSONSchema]: [string, JsonObject]) =>
  plainTool(`mcp__s__${name}`, { origin: server, alwaysLoad: true, inputJSONSchema });
const tools = [...Object.entries(USABLE), ...Object.entries(BROKEN)].map(toolOf);
const pool = assembleToolPool({ toolMode: 'normal' }, [plainTool('Bash')], tools, configuration);

interface List {
  readonly tools: readonly Readonly<Record<string, unknown>>[];
  readonly left_out?: readonly { readonly name: string; readonly reason: string }[];
  readonly built_in_count: number;
  readonly mcp_count: number;
}
const list = (variant: Partial<ListVariant>) =>
  JSON.parse(toolList(pool, { format: 'anthropic', schemas: 'full', ...variant }).body.toString()) as List;

describe('each provider takes every tool of its list', () => {
  const brokenNames = Object.keys(BROKEN).map((name) => `mcp__s__${name}`);

  test.each<[string, Partial<ListVariant>, (tool: Readonly<Record<string, unknown>>) => readonly string[]]>([
    ['Anthropic', { format: 'anthropic' }, anthropicProblems],
    ['Chat Completions', { format: 'openai-chat' }, (tool) => openAiProblems(tool, 'chat')],
    ['Chat Completions, strict', { format: 'openai-chat', isStrict: true }, (tool) => openAiProblems(tool, 'chat')],
    ['Responses', { format: 'openai-responses' }, (tool) => openAiProblems(tool, 'responses')],
    ['Responses, strict', { format: 'openai-responses', isStrict: true }, (tool) => openAiProblems(tool, 'responses')],
    ['Gemini', { format: 'gemini' }, geminiProblems],
  ])('%s', (_provider, variant, problems) => {
    const { tools: listed, left_out: leftOut, mcp_count: mcpCount } = list(variant);
    expect(listed.flatMap((tool) => problems(tool))).toEqual([]);
    expect(leftOut?.map(({ name }) => name).sort()).toEqual([...brokenNames].sort());
    for (const { reason } of leftOut ?? []) expect(reason).toContain('its schema cannot be used');
    expect(mcpCount).toBe(Object.keys(USABLE).length);
  });
});

test('alternatives of alternatives end, however many there are', () => {
  const wide = (name: string) => ({ anyOf: Array.from({ length: 40 }, () => ({ $ref: `#/$defs/${name}` })) });
  const names = Array.from({ length: 10 }, (_, level) => `L${level}`);
  const $defs = Object.fromEntries(
    names.map((name, level) => [name, level === 9 ? { properties: { a: text } } : wide(`L${level + 1}`)]),
  );
  const began = performance.now();
  expect(plainSchema({ ...wide('L0'), $defs })).toMatchObject({ type: 'object' });
  expect(performance.now() - began).toBeLessThan(2_000);
});

test('alternatives at the top become one object that requires what all require', () => {
  const find = (name: string) => list({ names: [`mcp__s__${name}`] }).tools[0]?.['input_schema'];
  expect(find('alternatives')).toMatchObject({ properties: { a: text, b: text, c: {} }, required: ['a'] });
  expect(find('merged')).toMatchObject({ type: 'object', properties: { a: text, b: text } });
});

test('references to places inside alternatives still lead somewhere', () => {
  const { tools: listed } = list({ names: ['mcp__s__places'] });
  expect(listed[0]?.['input_schema']).toEqual({ type: 'object', properties: { a: text, b: text, c: text } });
});

test('strict schemas make optional fields nullable, and what cannot be strict is not', () => {
  const { tools: listed } = list({ format: 'openai-responses', isStrict: true });
  const strict = Object.fromEntries(
    listed.map((tool) => [String(tool['name']).replace('mcp__s__', ''), tool['strict']]),
  );
  expect(strict).toMatchObject({
    alternatives: true,
    referenced: true,
    nested: true,
    map: false,
    recursive: false,
    anything: false,
  });
  const nested = listed.find(({ name }) => name === 'mcp__s__nested');
  expect(nested?.['parameters']).toEqual({
    type: 'object',
    properties: {
      either: { anyOf: [text, { type: 'null' }] },
      when: { type: ['string', 'null'] },
    },
    required: ['either', 'when'],
    additionalProperties: false,
  });
});

test('names and max choose tools, and what is missing is named', () => {
  const named = list({ names: ['Bash', 'mcp__s__map', 'Nothing'] });
  expect(named).toMatchObject({ built_in_count: 1, mcp_count: 1, left_out: [{ name: 'Nothing' }] });
  const few = list({ max: 2 });
  expect(few.tools.map(({ name }) => name)).toEqual(['Bash', 'mcp__s__alternatives']);
  expect(few.left_out).toHaveLength(tools.length - 1);
});
