/**
 * Checksums of what the log stores, each over its place as well, so that nothing is taken for something else.
 */
import { crc32 } from 'node:zlib';
import type { Seq } from '../wire/frames.ts';

/** CRC-32 over a note's place and its text. @param place A fact's key, or a snapshot's `seq`. */
export function checksumOfNote(session: number, place: string | Seq, text: string): number {
  return crc32(text, crc32(`${session} ${place} `));
}

/** CRC-32 over what ties a session to its owner and its rows. */
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

/** CRC-32 over the place, version and text of an entry that sessions share. */
export function checksumOfShared(
  [principal, namespace]: readonly [principal: string, namespace: string],
  key: string,
  version: number,
  text: string,
): number {
  return crc32(text, crc32(JSON.stringify([principal, namespace, key, version])));
}

/** CRC-32 over a row's place and its text. */
export function checksumOfRow(
  session: number,
  { first, last }: { readonly first: Seq; readonly last: Seq },
  text: string | Buffer,
): number {
  return crc32(text, crc32(`${session} ${first} ${last} `));
}
