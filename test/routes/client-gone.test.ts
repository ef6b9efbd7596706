/** Clients that go away before a route listens for that. */
import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { fastify } from 'fastify';
import { expect, it, onTestFinished } from 'vitest';
import { clientGone } from '../../routes/pipe-reply.ts';

it('a client that went away earlier counts as gone', async () => {
  const app = fastify();
  onTestFinished(() => app.close());
  let tell: (gone: boolean) => void = () => undefined;
  const told = new Promise<boolean>((resolve) => (tell = resolve));
  app.get('/', async (_request, reply) => {
    await once(reply.raw, 'close');
    tell(clientGone(reply).aborted);
    return '';
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n', () => socket.destroy());
  expect(await told).toBe(true);
});
