/** Bytes of a reply become text, whatever charset they are in and whatever the reply says of them. */
import { expect, it } from 'vitest';
import { readContent } from '../../../tools/web/web-fetch/page-text.ts';

const bytes = (...parts: readonly (string | readonly number[])[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))));

it.each([
  ['the word of the reply', 'text/plain; charset=Shift_JIS', bytes([0x93, 0xfa, 0x96, 0x7b]), '日本'],
  ['a quoted word of the reply', 'text/plain; charset="koi8-r"', bytes([0xcd, 0xc9, 0xd2]), 'мир'],
  ['a mark against the word of the reply', 'text/plain; charset=latin1', bytes([0xef, 0xbb, 0xbf], [0xc3, 0xa9]), 'é'],
  ['UTF-16 by its mark', 'text/plain', bytes([0xff, 0xfe, 0xe9, 0x00]), 'é'],
  ['UTF-16 by the word of the reply', 'text/plain;charset=utf-16be', bytes([0x00, 0xe9]), 'é'],
  ['UTF-8 where nothing is said', 'text/plain', bytes([0xc3, 0xa9]), 'é'],
  ['an old page where nothing is said', 'text/plain', bytes([0xe9, 0x80]), 'é€'],
  ['a charset that nobody knows', 'text/plain; charset=martian', bytes([0xc3, 0xa9]), 'é'],
  ['a charset that is no text', 'text/plain; charset=iso-2022-kr', bytes('plain'), 'plain'],
  ['broken UTF-8', 'text/plain; charset=utf-8', bytes('a', [0xff], 'b'), 'a\ufffdb'],
])('%s', (_title, contentType, body, text) => {
  expect(readContent(body, contentType)).toEqual({ kind: 'text', text });
});

it.each([
  ['<meta charset="windows-1251"><p>', 'мир'],
  ['<META http-equiv=content-type content="text/html; charset=windows-1251"><p>', 'мир'],
  ['<?xml version="1.0" encoding="windows-1251"?><html>', 'мир'],
])('reads the charset that a page says itself: %s', (head, word) => {
  const content = readContent(bytes(head, [0xec, 0xe8, 0xf0]), 'text/html');
  expect(content).toEqual({ kind: 'html', text: head + word });
});

it('does not believe a page that says in ASCII that it is UTF-16', () => {
  expect(readContent(bytes('<meta charset=utf-16>é'), 'text/html; charset=').kind).toBe('html');
  const content = readContent(bytes('<meta charset="utf-16">', [0xc3, 0xa9]), 'text/html');
  expect(content).toEqual({ kind: 'html', text: '<meta charset="utf-16">é' });
});

it.each([
  ['application/json', '{}', 'text'],
  ['application/ld+json', '{}', 'text'],
  ['application/xhtml+xml', '<p>', 'html'],
  ['', '<!DOCTYPE html><p>', 'html'],
  ['application/octet-stream', 'words', 'text'],
  ['application/octet-stream', 'a\0b', 'other'],
  ['image/png', 'words', 'other'],
  ['application/pdf', '%PDF', 'other'],
])('%s with %j is %s', (contentType, body, kind) => {
  expect(readContent(Buffer.from(body), contentType).kind).toBe(kind);
});
