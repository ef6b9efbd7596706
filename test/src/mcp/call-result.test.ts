import { describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../../config/limits.ts';
import { toOutput } from '../../../src/mcp/call-result.ts';

type Result = Parameters<typeof toOutput>[0];
const contentOf = (result: Result) => toOutput(result, DEFAULT_LIMITS).content;

describe("a server's answer", () => {
  test('is handed on as text, images and documents', () => {
    const content = contentOf({
      content: [
        { type: 'text', text: 'hello' },
        { type: 'image', data: 'aGk=', mimeType: 'image/png' },
        { type: 'resource', resource: { uri: 'file:///a.pdf', blob: 'aGk=', mimeType: 'application/pdf' } },
        { type: 'resource', resource: { uri: 'file:///a.txt', text: 'inside' } },
      ],
    });
    expect(content.map(({ type }) => type)).toEqual(['text', 'image', 'document', 'text']);
    expect(content[3]).toEqual({ type: 'text', text: '[resource file:///a.txt]\ninside' });
  });

  test('says what it cannot show', () => {
    const content = contentOf({
      content: [
        { type: 'audio', data: 'aGk=', mimeType: 'audio/wav' },
        { type: 'image', data: 'not base64!', mimeType: 'image/png' },
        { type: 'resource_link', uri: 'https://example.com/x', name: 'x', description: 'a page' },
      ],
    });
    expect(content).toEqual([
      { type: 'text', text: '[audio: audio/wav, about 3 bytes, cannot be shown]' },
      { type: 'text', text: '[image: image/png, about 8 bytes, cannot be shown]' },
      { type: 'text', text: '[Resource "x" at https://example.com/x: a page]' },
    ]);
  });

  test.each([
    ['aGk=', 'image'],
    ['aG\nk=\n', 'image'],
    ['aGkx', 'image'],
    ['aGk===', 'text'],
    ['a=Gk', 'text'],
    [`a${' '.repeat(1_000_000)}!`, 'text'],
    [`a=${' '.repeat(1_000_000)}!`, 'text'],
  ])('is an image only in base64, which is seen at once', (data, type) => {
    expect(contentOf({ content: [{ type: 'image', data, mimeType: 'image/png' }] })).toMatchObject([{ type }]);
  });

  test('is structured only where its text does not say the same', () => {
    const structuredContent = { sum: 3, terms: [1, 2] };
    const text = (value: string): Result => ({ content: [{ type: 'text', text: value }], structuredContent });

    expect(contentOf(text('{ "sum": 3, "terms": [1, 2] }'))).toHaveLength(1);
    expect(contentOf(text('The sum is 3'))[1]).toEqual({ type: 'text', text: '{"sum":3,"terms":[1,2]}' });
    expect(
      contentOf({ content: [{ type: 'text', text: 'kept' }], structuredContent: { content: 'kept' } }),
    ).toHaveLength(1);
  });

  test('does not repeat in text the bytes that a block has', () => {
    const data = 'aGk'.repeat(5_000);
    const image = { type: 'image' as const, data, mimeType: 'image/png' };
    expect(contentOf({ content: [image], structuredContent: { content: [image] } })).toEqual([
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
    ]);
    const blocks = contentOf({ content: [image], structuredContent: { picture: data, width: 3 } });
    expect(blocks[1]).toEqual({ type: 'text', text: '{"picture":"[shown above]","width":3}' });
  });

  test('shows a blob that is text as text', () => {
    const blob = Buffer.from('größe: 1\n').toString('base64');
    const resource = (mimeType?: string, bytes = blob) => ({
      uri: 'file:///a',
      blob: bytes,
      ...(mimeType && { mimeType }),
    });
    const shown = (of: ReturnType<typeof resource>) => contentOf({ content: [{ type: 'resource', resource: of }] })[0];
    for (const type of [undefined, 'text/plain; charset=utf-8', 'application/json', 'application/atom+xml']) {
      expect(shown(resource(type))).toEqual({ type: 'text', text: '[resource file:///a]\ngröße: 1\n' });
    }
    for (const of of [resource('application/zip'), resource('text/plain', '/w=='), resource(undefined, 'AAA=')]) {
      expect(shown(of)).toMatchObject({ text: expect.stringContaining('cannot be shown') });
    }
  });

  test('is kept whole where the blocks leave something out, within bounds', () => {
    const whole = (result: Result) => toOutput(result, DEFAULT_LIMITS).whole;
    expect(whole({ content: [{ type: 'text', text: 'all' }] })).toBeUndefined();
    const audio = {
      content: [{ type: 'audio' as const, data: 'aGk=', mimeType: 'audio/wav' }],
      _meta: { of: 'vendor' },
    };
    expect(whole(audio)).toEqual(audio);
    expect(whole({ content: [], structuredContent: { long: 'x'.repeat(2_000_000) } })).toMatchObject({
      omitted_chars: expect.any(Number),
    });
  });

  test('shows the image of a failure, too', () => {
    const content = [
      { type: 'text' as const, text: 'it looks like this' },
      { type: 'image' as const, data: 'aGk=', mimeType: 'image/png' },
    ];
    expect(toOutput({ isError: true, content }, DEFAULT_LIMITS)).toMatchObject({
      isError: true,
      content: [{ type: 'text' }, { type: 'image' }],
    });
  });

  test('fails with the text of a server that says it failed', () => {
    const failed: Result = { isError: true, content: [{ type: 'text', text: 'no such file' }] };
    expect(() => contentOf(failed)).toThrow(expect.objectContaining({ code: 'tool_failed', message: 'no such file' }));
    expect(() => contentOf({ isError: true, content: [] })).toThrow('did not say why');
  });
});
