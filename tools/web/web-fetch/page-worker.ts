/** Thread that converts pages to Markdown: receives a page, posts its text or an error. */
import { parentPort } from 'node:worker_threads';
import { errorMessage } from '../../../src/base/errors.ts';
import { readPage, type ReadPage } from './page-markdown.ts';

/** Message to the thread. */
export interface PageJob {
  readonly html: string;
  readonly url: string;
}

/** Message from the thread. */
export type PageAnswer = ReadPage | { readonly error: string };

parentPort?.on('message', ({ html, url }: PageJob) => parentPort?.postMessage(answer(html, url)));

function answer(html: string, url: string): PageAnswer {
  try {
    return readPage(html, url);
  } catch (error) {
    return { error: errorMessage(error) };
  }
}
