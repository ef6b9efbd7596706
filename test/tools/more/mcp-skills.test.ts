/** The text that a model writes for the arguments of a prompt. */
import { describe, expect, test } from 'vitest';
import { readArguments } from '../../../tools/more/mcp-skills.ts';

const argument = (name: string, required = false) => ({ name, required });
const prompt = (...args: ReturnType<typeof argument>[]) => ({ name: 'mcp__notes__review', arguments: args });
const two = prompt(argument('change', true), argument('style'));
const values = (given: Record<string, string>) => ({ kind: 'values', values: given });

describe('the arguments of a prompt', () => {
  test.each([
    ['change=42', { change: '42' }],
    ['change=the last one style="short and dry"', { change: 'the last one', style: 'short and dry' }],
    ["style='' change=a=b", { style: '', change: 'a=b' }],
    ['{"change": "a \\"b\\" style=x", "style": 7}', { change: 'a "b" style=x', style: '7' }],
  ])('are read from pairs or JSON: %s', (text, expected) => {
    expect(readArguments(two, text)).toEqual(values(expected));
  });

  test.each(['fix this', 'a=b c=d', '{"other": "x"}', '{not json'])(
    'are the whole text where there is one: %s',
    (text) => {
      expect(readArguments(prompt(argument('topic', true)), text)).toEqual(values({ topic: text }));
    },
  );

  test('that are required and missing are named', () => {
    expect(readArguments(two, 'style=short')).toEqual({
      kind: 'problem',
      message:
        'The skill "mcp__notes__review" needs the argument "change". Write name=value for each of: change (required), style',
    });
    expect(readArguments(prompt(argument('constructor', true)), '').kind).toBe('problem');
  });

  test('that cannot be told apart are refused', () => {
    expect(readArguments(two, 'what is new')).toMatchObject({ message: expect.stringContaining('Cannot read') });
    expect(readArguments(prompt(), 'anything')).toMatchObject({ message: expect.stringContaining('it takes none') });
    expect(readArguments(prompt(), ' ')).toEqual(values({}));
  });
});
