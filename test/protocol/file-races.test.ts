/** Files that change hands between a look and a deed: links swapped in, and two sessions over one file. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serverHome, startServer } from '../helpers/built-server.ts';
import { edit, glob, judge, read, write, type Call, type Judge } from '../helpers/file-calls.ts';
import { CANARY, fingerprint } from '../helpers/path-world.ts';
import { swapping } from '../helpers/swapping.ts';
import { block, wireClient, type WireClient } from '../helpers/wire-client.ts';

const home = serverHome();
const root = join(home, 'workspace');
const outside = join(home, 'outside');
const ROUNDS = 200;

let client: WireClient;
let outcome: Judge['outcome'];
let before: string;

beforeAll(async () => {
  for (const folder of ['outside', 'workspace/written', 'workspace/read'])
    mkdirSync(join(home, folder), { recursive: true });
  for (const name of ['secret.txt', 'kept.txt']) writeFileSync(join(outside, name), CANARY);
  client = wireClient(await startServer({ home }));
  before = fingerprint(outside);
  ({ outcome } = judge(client, home));
});
afterAll(() => expect(fingerprint(outside)).toBe(before));

/** The same call again and again, in one batch. */
async function repeated(sessionId: string, [name, input]: Call) {
  const blocks = Array.from({ length: ROUNDS }, () => block(name, input));
  const { calls, results } = await client.execute(sessionId, blocks, { on_ask: 'deny' });
  return calls.map(({ status }, index) => ({ status, text: JSON.stringify(results[index]?.content) }));
}

describe('A22: while a folder is swapped for a link to another', () => {
  it('nothing is written there: rows 18 and A22', async () => {
    await swapping(join(root, 'written'), outside);
    const sessionId = await client.session({ mode: 'acceptEdits' });
    const statuses = new Set<string>();
    for (const name of ['secret.txt', 'new.txt', 'deep/er/new.txt']) {
      const replies = await repeated(sessionId, write(`written/${name}`));
      for (const { status } of replies) statuses.add(status);
      expect(fingerprint(outside)).toBe(before);
    }
    // Some of them met the folder itself all the way.
    expect(statuses).toContain('ok');
  });

  it('nothing is read there, and no name found: row 18', async () => {
    await swapping(join(root, 'read'), outside);
    const sessionId = await client.session();
    for (const call of [read('read/kept.txt'), glob('read/*'), glob('**/kept.txt')]) {
      const leaks = (await repeated(sessionId, call)).filter(
        ({ status, text }) => text.includes(CANARY) || (status === 'ok' && text.includes('kept.txt')),
      );
      expect(leaks).toEqual([]);
    }
  });
});

describe('A22: while a file is swapped for a link to another', () => {
  it('neither an edit nor a read reaches the other: row 19', async () => {
    writeFileSync(join(root, 'leaf.txt'), 'one');
    const sessionId = await client.session({ mode: 'acceptEdits' });
    await outcome(sessionId, read('leaf.txt'));
    await swapping(join(root, 'leaf.txt'), join(outside, 'secret.txt'));
    for (const call of [edit('leaf.txt', 'one', 'one'), write('leaf.txt', 'one'), read('leaf.txt')]) {
      for (const { text } of await repeated(sessionId, call)) expect(text).not.toContain(CANARY);
    }
    expect(fingerprint(outside)).toBe(before);
  });
});

describe('two sessions over one file', () => {
  const open = () => client.session({ mode: 'acceptEdits' });

  it('the one that is overtaken is told by whom', async () => {
    writeFileSync(join(root, 'shared.txt'), 'first');
    const [slow, fast] = await Promise.all([open(), open()]);
    for (const sessionId of [slow, fast]) await outcome(sessionId, read('shared.txt'));
    expect(await outcome(fast, edit('shared.txt', 'first', 'second'))).toMatchObject({ status: 'ok' });
    for (const call of [edit('shared.txt', 'first', 'third'), write('shared.txt', 'third')]) {
      const { status, text } = await outcome(slow, call);
      expect(status).toBe('error');
      expect(text).toContain(
        `the file changed after it was read, last by session \\"${fast}\\" with Edit. Read it again`,
      );
    }
    expect(readFileSync(join(root, 'shared.txt'), 'utf8')).toBe('second');
    await outcome(slow, read('shared.txt'));
    expect(await outcome(slow, edit('shared.txt', 'second', 'third'))).toMatchObject({ status: 'ok' });
  });

  it('that race to make it: one does, the others are told that it is there', async () => {
    const sessions = await Promise.all(Array.from({ length: 8 }, open));
    const replies = await Promise.all(sessions.map((id) => outcome(id, write('raced.txt', `${id}\n`.repeat(50_000)))));
    const winners = sessions.filter((_id, index) => replies[index]?.status === 'ok');
    expect(winners).toHaveLength(1);
    expect(readFileSync(join(root, 'raced.txt'), 'utf8')).toBe(`${winners[0]}\n`.repeat(50_000));
    expect(readdirSync(root).filter((name) => name.startsWith('.gauntlet-'))).toEqual([]);
  });

  it('that change it in turns: whoever looks sees one whole text', async () => {
    const texts = ['a', 'b'].map((letter) => letter.repeat(300_000));
    const sessionId = await open();
    await outcome(sessionId, write('whole.txt', texts[0]));
    const blocks = Array.from({ length: 10 }, (_block, n) => block(...write('whole.txt', texts[(n + 1) % 2])));
    let isDone = false;
    const edited = (async () => {
      for (const each of blocks) await client.execute(sessionId, [each]);
      isDone = true;
    })();
    const seen = new Set<string>();
    while (!isDone) seen.add(await readFile(join(root, 'whole.txt'), 'utf8'));
    await edited;
    for (const text of seen) expect(texts.includes(text)).toBe(true);
    expect(seen.size).toBe(2);
  });
});
