/** Thousands of searches while a folder, or a file, is swapped for a link: nothing from beyond is shown (A22, row 23). */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { serverHome, startServer } from '../helpers/built-server.ts';
import { glob, grep } from '../helpers/file-calls.ts';
import { CANARY } from '../helpers/path-world.ts';
import { swapping } from '../helpers/swapping.ts';
import { block, wireClient } from '../helpers/wire-client.ts';

const BATCHES = 14;
const BATCH = 150;
/** Ways to ask, each with what an answer about ours never holds: their text, one of them listed, their count of letters, their names. */
const SEARCHES = [
  [grep(`ours|${CANARY}`), /canary|beyond/],
  [grep(`ours|${CANARY}`, { path: 'place', head_limit: 0 }), /canary|beyond/],
  [grep(CANARY, { output_mode: 'files_with_matches' }), /place/],
  [grep('.', { output_mode: 'count' }), /beyond|:(?!4$)\d+$/m],
  [glob('**/*'), /beyond/],
] as const;

it.each([
  ['folder', 'outside', 'place'],
  ['folder whose link leads to what is denied', 'workspace/secrets', 'place'],
  ['file', 'outside/0.txt', 'place/0.txt'],
])('a %s that is swapped shows nothing of the other', async (_what, target, place) => {
  const home = serverHome();
  for (const folder of ['outside', 'workspace/secrets', 'workspace/place']) plant(join(home, folder));
  const settings = { permissions: { deny: ['Read(./secrets/**)'] } };
  const client = wireClient(await startServer({ home, settings }));
  const sessionId = await client.session();
  await swapping(join(home, 'workspace', place), join(home, target));

  const leaks: string[] = [];
  let shown = 0;
  for (let batch = 0; batch < BATCHES; batch++) {
    const asked = Array.from({ length: BATCH }, (_, n) => SEARCHES[n % SEARCHES.length] ?? SEARCHES[0]);
    const blocks = asked.map(([call]) => block(...call));
    const { results } = await client.execute(sessionId, blocks, { on_ask: 'deny' });
    for (const [n, { content }] of results.entries()) {
      if (asked[n]?.[1].test(content) !== false) leaks.push(content);
      if (content.includes(':1:ours')) shown++;
    }
  }
  expect(leaks).toEqual([]);
  expect(shown).toBeGreaterThan(0);
});

/** Twenty files; those of others hold something else, and have neighbours. */
function plant(folder: string): void {
  mkdirSync(folder);
  const isOurs = folder.endsWith('place');
  for (let file = 0; file < 20; file++) {
    writeFileSync(join(folder, `${file}.txt`), isOurs ? 'ours\n' : `${CANARY}\n`);
    if (!isOurs) writeFileSync(join(folder, `beyond-${file}.txt`), `${CANARY}\n`);
  }
}
