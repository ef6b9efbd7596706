/** Long replies, over a real connection. */
import Fastify from 'fastify';
import { expect, it, onTestFinished } from 'vitest';
import { clientGone, pipeReply } from '../../routes/pipe-reply.ts';

const limits = { slowReaderMs: 5_000, webSocketPingMs: 5_000 };

it('lets others run while a long reply is read from a fast disk by a fast reader', async () => {
  const app = Fastify();
  onTestFinished(() => app.close());
  let turns = 0;
  async function* chunks(): AsyncGenerator<string> {
    const counting = setInterval(() => (turns += 1), 1);
    for (let count = 0; count < 50; count += 1) {
      const beganMs = performance.now();
      while (performance.now() - beganMs < 4);
      yield await Promise.resolve('x');
    }
    clearInterval(counting);
  }
  app.get('/', (_request, reply) =>
    pipeReply(reply, { contentType: 'text/plain', chunks: chunks() }, clientGone(reply), limits),
  );
  const reply = await fetch(await app.listen({ host: '127.0.0.1', port: 0 }));
  expect(await reply.text()).toBe('x'.repeat(50));
  expect(turns).toBeGreaterThan(5);
});
