/** Two thousand writes while their folder, or the file itself, is swapped for a link: none lands elsewhere (A22). */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { serverHome, startServer } from '../helpers/built-server.ts';
import { edit, read, write } from '../helpers/file-calls.ts';
import { CANARY, fingerprint } from '../helpers/path-world.ts';
import { swapping } from '../helpers/swapping.ts';
import { block, wireClient } from '../helpers/wire-client.ts';

const BATCHES = 10;
const BATCH = 200;

it.each([
  ['folder', 'place', 'place/file.txt'],
  ['file', 'file.txt', 'file.txt'],
])('a %s that is swapped takes no write elsewhere', async (_what, place, path) => {
  const home = serverHome();
  const [root, outside] = [join(home, 'workspace'), join(home, 'outside')];
  for (const folder of [outside, join(root, 'place')]) mkdirSync(folder);
  for (const file of [join(outside, 'file.txt'), join(root, path)]) writeFileSync(file, CANARY);
  const before = fingerprint(outside);
  const client = wireClient(await startServer({ home }));
  const sessionId = await client.session({ mode: 'acceptEdits' });
  await swapping(join(root, place), place === 'place' ? outside : join(outside, 'file.txt'));

  const calls = [read(path), write(path), edit(path, 'mine', 'yours'), edit(path, 'yours', 'mine')];
  const ends = new Set<string>();
  for (let batch = 0; batch < BATCHES; batch++) {
    const blocks = Array.from({ length: BATCH }, (_block, n) => block(...(calls[n % calls.length] ?? read(path))));
    const reply = await client.execute(sessionId, blocks, { on_ask: 'deny' });
    for (const { status } of reply.calls) ends.add(status);
    expect(fingerprint(outside)).toBe(before);
  }
  expect(ends).toContain('ok');
});
