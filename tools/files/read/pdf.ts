/**
 * Reads PDFs: the text of the requested pages; a scan without text is passed to the model as a whole.
 *
 * Parsed in a separate worker with limited memory and time, since a PDF is a program and may be hostile.
 */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { ResultContentBlock } from '../../../src/wire/blocks.ts';
import { errorMessage, GauntletError } from '../../../src/base/errors.ts';
import type { RichOutput } from './output.ts';
import { CONVERT_MS, type RichFile } from './rich-file.ts';
import { MAX_PDF_PAGES } from './schema.ts';
import { MAX_PAGE_BYTES } from './text.ts';

/** A PDF without text is sent whole up to this size. */
const MAX_DOCUMENT_BYTES = 3 * 1_024 * 1_024;

/** Heap of the worker that reads PDFs. */
const WORKER_HEAP_MIB = 256;

/** Answer of the worker. */
type PdfPages = { readonly totalPages: number; readonly texts: readonly string[] } | { readonly error: string };

/** Plain JavaScript, since a worker needs code that Node can run directly, in development and from `dist/` alike. */
const WORKER_CODE = `
const { parentPort, workerData } = require('node:worker_threads');
(async () => {
  const { getDocumentProxy } = await import(workerData.library);
  const pdf = await getDocumentProxy(workerData.bytes);
  const last = Math.min(workerData.last, pdf.numPages);
  const texts = [];
  for (let number = workerData.first; number <= last; number++) {
    const { items } = await (await pdf.getPage(number)).getTextContent();
    texts.push(items.map((item) => ('str' in item ? item.str + (item.hasEOL ? '\\n' : '') : '')).join(''));
  }
  parentPort.postMessage({ totalPages: pdf.numPages, texts });
})().catch((error) => parentPort.postMessage({ error: String(error && error.message || error) }));
`;

/**
 * Convert a PDF to text by page.
 *
 * @throws {GauntletError} `tool_failed` if it is broken, `invalid_input` for missing pages.
 */
export async function readPdf(rich: RichFile, bytes: Buffer): Promise<RichOutput> {
  const range = pageRange(rich.input.pages, MAX_PDF_PAGES);
  const pages = await extractPages(rich, bytes, range);
  const { totalPages, texts } = pages;
  if (texts.length === 0) {
    throw new GauntletError(
      'tool_failed',
      `Cannot read page ${range.first} of "${rich.path}": it has ${totalPages} pages`,
    );
  }
  const last = range.first + texts.length - 1;
  const described = {
    type: 'pdf' as const,
    path: rich.path,
    summary: texts.length === totalPages ? `${totalPages} pages` : `pages ${range.first}-${last} of ${totalPages}`,
    sizeBytes: bytes.length,
    isPartial: texts.length < totalPages,
  };
  const hasText = texts.some((text) => text.trim() !== '');
  if (!hasText && bytes.length <= MAX_DOCUMENT_BYTES) return { ...described, content: wholeDocument(bytes) };
  return { ...described, content: pageBlocks(texts, range.first, totalPages, rich.input.pages !== undefined) };
}

/** Parse the requested pages; the first ones by default. */
function pageRange(pages: string | undefined, maxPages: number): { readonly first: number; readonly last: number } {
  if (pages === undefined) return { first: 1, last: maxPages };
  const [first = 1, last = first] = pages.split('-').map(Number);
  if (first < 1 || last < first || last - first >= maxPages) {
    throw new GauntletError(
      'invalid_input',
      `Cannot read pages "${pages}": use a range from 1 on, of at most ${maxPages} pages`,
    );
  }
  return { first, last };
}

async function extractPages(
  rich: RichFile,
  bytes: Buffer,
  range: { readonly first: number; readonly last: number },
): Promise<Exclude<PdfPages, { readonly error: string }>> {
  const library = pathToFileURL(createRequire(import.meta.url).resolve('unpdf')).href;
  const worker = new Worker(WORKER_CODE, {
    eval: true,
    env: {},
    workerData: { library, bytes: new Uint8Array(bytes), ...range },
    resourceLimits: { maxOldGenerationSizeMb: WORKER_HEAP_MIB },
    stdout: true,
    stderr: true,
  });
  const deadline = AbortSignal.any([rich.signal, AbortSignal.timeout(CONVERT_MS)]);
  try {
    const answer = await new Promise<PdfPages>((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
      worker.once('exit', () => reject(new Error('the worker ended without an answer')));
      deadline.addEventListener('abort', () => reject(new Error('it takes too long')), { once: true });
    });
    if (!('error' in answer)) return answer;
    throw new Error(answer.error);
  } catch (error) {
    rich.signal.throwIfAborted();
    const why = errorMessage(error).replace(/\.$/, '');
    throw new GauntletError(
      'tool_failed',
      `Cannot read "${rich.path}": ${why}. The PDF is broken, locked or too complex; try Bash with pdftotext`,
      { cause: error },
    );
  } finally {
    await worker.terminate();
  }
}

function wholeDocument(bytes: Buffer): readonly ResultContentBlock[] {
  return [
    { type: 'text', text: 'These pages hold no text, only pictures; the whole document is attached' },
    { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: bytes.toString('base64') } },
  ];
}

function pageBlocks(
  texts: readonly string[],
  first: number,
  totalPages: number,
  isChosen: boolean,
): readonly ResultContentBlock[] {
  const shown: string[] = [];
  let usedBytes = 0;
  for (const [index, text] of texts.entries()) {
    const page = `<page number="${first + index}">\n${text.trimEnd() || '(no text on this page)'}\n</page>`;
    usedBytes += Buffer.byteLength(page);
    if (shown.length > 0 && usedBytes > MAX_PAGE_BYTES) break;
    shown.push(
      page.length > MAX_PAGE_BYTES
        ? `${page.slice(0, MAX_PAGE_BYTES)}\n[cut: this page has ${page.length} characters]`
        : page,
    );
  }
  const last = first + shown.length - 1;
  const isMissing = shown.length < texts.length || (!isChosen && last < totalPages);
  if (isMissing)
    shown.push(
      `PARTIAL: pages ${first}-${last} of ${totalPages} are shown. Go on with pages "${last + 1}-${Math.min(totalPages, last + MAX_PDF_PAGES)}"`,
    );
  return [{ type: 'text', text: shown.join('\n') }];
}
