/**
 * Checksums of the log's records. Each covers the record's key too, so that a damaged index cannot pass one record off
 * as another.
 */
import { crc32 } from 'node:zlib';
import type { Seq } from '../wire/frames.ts';

/** CRC-32 over a note's key and text. @param place A fact's key, or a snapshot's `seq`. */
export function checksumOfNote(session: number, place: string | Seq, text: string): number {
  return crc32(text, crc32(`${session} ${place} `));
}

/** CRC-32 over a session's number, id, creation time and principal. */
export function checksumOfSession({
  number,
  sessionId,
  principal,
  createdAt,
}: {
  readonly number: number;
  readonly sessionId: string;
  readonly principal: string;
  readonly createdAt: string;
}): number {
  return crc32(`${number} ${sessionId} ${createdAt} ${principal}`);
}

/** CRC-32 over the key, version and text of an entry of the shared store. */
export function checksumOfShared(
  [principal, namespace]: readonly [principal: string, namespace: string],
  key: string,
  version: number,
  text: string,
): number {
  return crc32(text, crc32(JSON.stringify([principal, namespace, key, version])));
}

/** CRC-32 over a row's key and text. */
export function checksumOfRow(
  session: number,
  { first, last }: { readonly first: Seq; readonly last: Seq },
  text: string | Buffer,
): number {
  return crc32(text, crc32(`${session} ${first} ${last} `));
}
