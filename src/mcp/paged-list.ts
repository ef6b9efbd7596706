/**
 * Requests a list of a server page by page and yields its entries unchecked: the SDK's own listing discards all of them
 * when one is malformed.
 */
import type { Client } from '@modelcontextprotocol/client';
import * as z from 'zod';
import { restoreList } from './received-messages.ts';

/** Pages of one listing: a server that always names a next page ends here. */
const MAX_LIST_PAGES = 100;

/** A list to request. */
export interface PagedList {
  readonly method: string;
  /** Member of a page that holds the entries. */
  readonly member: string;
  readonly maxEntries: number;
  /** Time limit of each page. */
  readonly pageMs: number;
  readonly signal: AbortSignal;
  /** Called with a sentence when the list is cut. */
  readonly onCut?: (remark: string) => void;
}

/** Yield the entries of all pages, up to the bounds. @throws The SDK's error for a page that failed as a whole. */
export async function* pagedEntries(client: Client, list: PagedList): AsyncGenerator<unknown, void> {
  const { method, member, maxEntries, onCut } = list;
  const shape = z.looseObject({ [member]: z.array(z.unknown()), nextCursor: z.string().optional().catch(undefined) });
  const page = z.preprocess((sent) => restoreList(sent as Readonly<Record<string, unknown>>), shape);
  let cursor: string | undefined;
  let count = 0;
  for (let pageCount = 0; pageCount < MAX_LIST_PAGES; pageCount++) {
    const request = { method, ...(cursor === undefined ? {} : { params: { cursor } }) };
    const sent = await client.request(request, page, { signal: list.signal, timeout: list.pageMs });
    for (const entry of sent[member] as readonly unknown[]) {
      if (count++ === maxEntries) return onCut?.(`Only the first ${maxEntries} entries of its "${method}" are listed`);
      yield entry;
    }
    const { nextCursor } = sent as { readonly nextCursor?: string };
    if (nextCursor === undefined || nextCursor === cursor) return;
    cursor = nextCursor;
  }
  onCut?.(`Only the first ${MAX_LIST_PAGES} pages of its "${method}" are listed`);
}
