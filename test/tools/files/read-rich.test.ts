import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import type { ToolResultBlock } from '../../../src/wire/blocks.ts';
import { readTool } from '../../../tools/files/read/index.ts';
import { fileServices } from '../../helpers/file-services.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { toolSession, writeTree } from '../../helpers/tool-session.ts';
import { allowEverything, parentMessage, toolUseContextIn } from '../../helpers/tool-use-context.ts';

const tool = readTool(fileServices());

async function readBlocks(
  root: string,
  input: { file_path: string; pages?: string; offset?: number; limit?: number },
): Promise<Exclude<ToolResultBlock['content'], string>> {
  const result = await tool.call(input, toolUseContextIn(root), allowEverything, parentMessage, undefined);
  const { content } = tool.mapToolResultToToolResultBlockParam(result.data, 'call-1');
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

/** A PDF of one line of text a page. */
function pdf(lines: readonly string[]): string {
  const pages = lines.map((line, index) => {
    const stream = `BT /F1 24 Tf 20 100 Td (${line}) Tj ET`;
    return (
      `${10 + index} 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents ${100 + index} 0 R/Resources<</Font<</F1 5 0 R>>>>>>endobj\n` +
      `${100 + index} 0 obj<</Length ${stream.length}>>stream\n${stream}\nendstream endobj\n`
    );
  });
  const kids = lines.map((_, index) => `${10 + index} 0 R`).join(' ');
  return `%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[${kids}]/Count ${lines.length}>>endobj\n5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\n${pages.join('')}trailer<</Root 1 0 R>>`;
}

describe('images', () => {
  const picture = (width: number, height: number) =>
    sharp({ create: { width, height, channels: 3, background: 'teal' } });

  it.each([
    ['png', 'image/png'],
    ['jpeg', 'image/jpeg'],
    ['gif', 'image/gif'],
    ['webp', 'image/webp'],
  ] as const)('a small %s is sent as it is, whatever it is called', async (format, mediaType) => {
    const root = temporaryFolder();
    writeFileSync(join(root, 'picture.dat'), await picture(8, 8).toFormat(format).toBuffer());
    const data = readFileSync(join(root, 'picture.dat')).toString('base64');
    expect(await readBlocks(root, { file_path: 'picture.dat' })).toEqual([
      { type: 'image', source: { type: 'base64', media_type: mediaType, data } },
    ]);
  });

  it('a large one is scaled down', async () => {
    const root = temporaryFolder();
    writeFileSync(join(root, 'wide.png'), await picture(5_000, 50).png().toBuffer());
    const [block] = await readBlocks(root, { file_path: 'wide.png' });
    const data = block?.type === 'image' ? Buffer.from(block.source.data, 'base64') : Buffer.alloc(0);
    expect((await sharp(data).metadata()).width).toBe(2_000);
  });

  it('one with too many pixels is refused', async () => {
    const root = temporaryFolder();
    const bomb = await picture(8, 8).png().toBuffer();
    // The header of a PNG says how large it is; what follows is not looked at before.
    bomb.writeUInt32BE(20_000, 16);
    bomb.writeUInt32BE(20_000, 20);
    bomb.writeUInt32BE(crc32(bomb.subarray(12, 29)), 29);
    writeFileSync(join(root, 'bomb.png'), bomb);
    expect(await toolSession(root).refusal(tool, { file_path: 'bomb.png' })).toMatch(/Cannot show .* pixel limit/);
  });

  it('a broken one is refused', async () => {
    const root = writeTree(temporaryFolder(), {
      'a.png': Buffer.concat([Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), Buffer.alloc(50)]),
    });
    expect(await toolSession(root).refusal(tool, { file_path: 'a.png' })).toContain('Cannot show');
  });
});

describe('PDFs', () => {
  const root = writeTree(temporaryFolder(), {
    'doc.pdf': pdf(Array.from({ length: 30 }, (_, index) => `This is page ${index + 1}.`)),
    'broken.pdf': '%PDF-1.4\nnonsense',
  });

  it('are shown by page', async () => {
    const blocks = await readBlocks(root, { file_path: 'doc.pdf', pages: '2-3' });
    expect(blocks).toEqual([
      {
        type: 'text',
        text: '<page number="2">\nThis is page 2.\n</page>\n<page number="3">\nThis is page 3.\n</page>',
      },
    ]);
  });

  it('without a choice of pages begin, and say how to go on', async () => {
    const [block] = await readBlocks(root, { file_path: 'doc.pdf' });
    expect(block).toMatchObject({
      text: expect.stringMatching(/This is page 20\.[^]*PARTIAL: pages 1-20 of 30 .*"21-30"/),
    });
  });

  it.each([
    ['doc.pdf', '1-21', /at most 20 pages/],
    ['doc.pdf', '5-2', /range/],
    ['doc.pdf', '31', /it has 30 pages/],
    ['broken.pdf', '1', /[^.]\. The PDF is broken/],
  ])('%s pages %s are refused', async (path, pages, message) => {
    expect(await toolSession(root).refusal(tool, { file_path: path, pages })).toMatch(message);
  });
});

describe('notebooks', () => {
  const cell = (id: string, source: string, outputs: readonly unknown[] = []) => ({
    cell_type: 'code',
    id,
    source: [source],
    execution_count: 1,
    metadata: {},
    outputs,
  });
  const notebook = (cells: readonly unknown[]) =>
    JSON.stringify({ nbformat: 4, nbformat_minor: 5, metadata: {}, cells });

  it('show each cell with what it put out', async () => {
    const outputs = [
      { output_type: 'stream', name: 'stdout', text: ['hello\n'] },
      { output_type: 'display_data', data: { 'image/png': 'aGVsbG8=\n', 'text/plain': '<Figure>' }, metadata: {} },
      { output_type: 'error', ename: 'ValueError', evalue: 'bad', traceback: ['line 1'] },
    ];
    const root = writeTree(temporaryFolder(), { 'n.ipynb': notebook([cell('abc', 'print(1)', outputs)]) });
    const [text, image] = await readBlocks(root, { file_path: 'n.ipynb' });
    expect(text).toMatchObject({
      text: expect.stringMatching(/<cell id="abc" type="code"[^]*print\(1\)[^]*hello[^]*<Figure>[^]*ValueError: bad/),
    });
    expect(image).toMatchObject({ source: { media_type: 'image/png', data: 'aGVsbG8=' } });
  });

  it('are read by cells', async () => {
    const root = writeTree(temporaryFolder(), {
      'n.ipynb': notebook(['a', 'b', 'c'].map((id) => cell(id, `source ${id}`))),
    });
    const text = await toolSession(root).run(tool, { file_path: 'n.ipynb', offset: 2, limit: 1 });
    expect(text).toContain('source b');
    expect(text).not.toMatch(/source [ac]/);
  });

  it('that are none are refused', async () => {
    const root = writeTree(temporaryFolder(), { 'n.ipynb': '{"cells": 1}', 'm.ipynb': 'text' });
    expect(await toolSession(root).refusal(tool, { file_path: 'n.ipynb' })).toContain('nbformat');
    expect(await toolSession(root).refusal(tool, { file_path: 'm.ipynb' })).toContain('JSON');
  });
});
