import { describe, expect, test } from 'vitest';
import { isTooDeep, MAX_JSON_DEPTH, parseSafeJson, unsafeJson } from '../../../src/base/json.ts';

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
const reasonOf = (text: string) => {
  try {
    parseSafeJson(text, 'the body');
    return 'accepted';
  } catch (error) {
    return (error as { details: { reason: string } }).details.reason;
  }
};

describe('JSON from outside', () => {
  test.each([
    ['{"a":[{"b":{}}]}', 'accepted'],
    [nested(MAX_JSON_DEPTH), 'accepted'],
    [nested(MAX_JSON_DEPTH + 1), 'too_deep'],
    ['['.repeat(100_000) + ']'.repeat(100_000), 'too_deep'],
    ['{"__proto__":{"x":1}}', 'forbidden_key'],
    ['[{"\\u005f_proto__":1}]', 'forbidden_key'],
    ['{"a":{"constructor":{"prototype":{}}}}', 'forbidden_key'],
    ['{"constructor":"Bob","prototype":1}', 'accepted'],
    ['{"a":1', 'not_json'],
    ['', 'not_json'],
  ])('%.40s is %s', (text, expected) => {
    expect(reasonOf(text)).toBe(expected);
  });

  test.each([
    ['{"input":{"file_path":"a\\ud800"}}', 'input.file_path'],
    ['{"tool_uses":[{},{"edits":["x","\\uDC00"]}]}', 'tool_uses[1].edits[1]'],
    ['{"input":{"\\udfff":1}}', 'input.\ufffd'],
    ['{"a":"\\ude00\\ud83d"}', 'a'],
  ])('half of a surrogate pair is refused by its field: %s', (text, path) => {
    expect(() => parseSafeJson(text, 'the body')).toThrow(
      expect.objectContaining({ code: 'invalid_request', details: { reason: 'lone_surrogate', path } }),
    );
  });

  test('a whole pair, and text that only spells one, pass', () => {
    expect(parseSafeJson('["\\ud83d\\ude00","\\\\ud800","😀"]', 'the body')).toEqual(['😀', '\\ud800', '😀']);
  });

  test('pieces of a string may break off in a pair, and nothing beside them may', () => {
    const places = { fragments: ['event.delta'] };
    const piece = '{"event":{"delta":{"partial_json":"\\ud83d"}}}';
    expect(parseSafeJson(piece, 'the frame', places)).toMatchObject({
      event: { delta: { partial_json: '\ud83d' } },
    });
    expect(() => parseSafeJson('{"event":{"id":"\\ud83d"}}', 'the frame', places)).toThrow('event.id');
  });

  test('a value that is already parsed is judged alike', () => {
    expect(unsafeJson(JSON.parse(nested(MAX_JSON_DEPTH + 1)))).toBe('too_deep');
    expect(unsafeJson({ a: 'x' })).toBeUndefined();
  });

  test('depth alone is judged where keys do not matter', () => {
    expect(isTooDeep('text')).toBe(false);
    expect(isTooDeep(JSON.parse('{"__proto__":[{}]}'))).toBe(false);
    expect(isTooDeep(JSON.parse(nested(MAX_JSON_DEPTH + 1)))).toBe(true);
  });
});
