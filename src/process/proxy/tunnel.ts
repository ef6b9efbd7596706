/**
 * `CONNECT host:port`: bytes go both ways, unread.
 */
import type { IncomingMessage } from 'node:http';
import { type Duplex, pipeline } from 'node:stream';
import { parseAuthority } from '../../../config/authority.ts';
import { GauntletError } from '../../base/errors.ts';
import { closeSignal } from './close-signal.ts';
import type { Dial } from './dial.ts';

/**
 * Open a tunnel; it ends with either of its ends.
 *
 * @param head What the client sent behind its request.
 * @throws {GauntletError} `invalid_request` for a target that is not `host:port`, and as `Dial` does.
 */
export async function openTunnel(
  { url = '' }: IncomingMessage,
  client: Duplex,
  head: Buffer,
  dial: Dial,
): Promise<void> {
  const { host, port } = parseAuthority(url) ?? {};
  if (host === undefined || port === undefined) {
    throw new GauntletError('invalid_request', 'Cannot read where this leads: CONNECT takes host:port');
  }
  const server = await dial({ host, port }, closeSignal(client));
  client.write('HTTP/1.1 200 Connection established\r\n\r\n');
  server.write(head);
  // One side may have said all and still listen; one that breaks takes the other along, which is all there is to tell.
  pipeline(client, server, () => undefined);
  pipeline(server, client, () => undefined);
}
