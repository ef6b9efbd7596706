/** The lists of resources that are kept of each server, so that a slow one holds up nobody. */
import { expect, test } from 'vitest';
import { ResourceLists } from '../../../src/mcp/resource-lists.ts';
import type { McpResource } from '../../../src/mcp/resources.ts';

const signal = new AbortController().signal;

/** Lists of a server that answers when `answer` is called. */
function server({ waitMs = 10 } = {}) {
  const asked: { resolve: (list: readonly McpResource[]) => void; reject: (error: Error) => void }[] = [];
  let changes = 0;
  const listResources = () =>
    new Promise<readonly McpResource[]>((resolve, reject) => void asked.push({ resolve, reject }));
  const lists = new ResourceLists(
    { listResources, listTemplates: () => Promise.resolve([]), onChange: () => changes++ },
    waitMs,
  );
  const names = async () => (await lists.resources(signal)).map(({ uri }) => uri);
  return { asked, lists, names, changes: () => changes };
}

const list = (...uris: string[]) => uris.map((uri) => ({ uri }));

test('a list is asked for once by all who want it in a short time, and again when the server announces another', async () => {
  const { asked, lists, names } = server({ waitMs: 10_000 });
  const both = Promise.all([names(), names()]);
  asked[0]?.resolve(list('a'));
  expect(await both).toEqual([['a'], ['a']]);
  expect(await names()).toEqual(['a']);
  expect(asked).toHaveLength(1);
  lists.announced();
  const after = names();
  asked[1]?.resolve(list('a', 'b'));
  expect(await after).toEqual(['a', 'b']);
});

test('a change that is announced while the server is asked leads to another request', async () => {
  const { asked, lists, names } = server({ waitMs: 10_000 });
  const first = names();
  lists.announced();
  asked[0]?.resolve(list('old'));
  await expect.poll(() => asked.length).toBe(2);
  asked[1]?.resolve(list('new'));
  expect(await first).toEqual(['new']);
});

test('a slow server is waited for once; its list is announced when it comes', async () => {
  const { asked, lists, names, changes } = server();
  expect(await names()).toEqual([]);
  const beganMs = performance.now();
  for (let count = 0; count < 100; count++) expect(await names()).toEqual([]);
  expect(performance.now() - beganMs).toBeLessThan(500);
  expect(asked).toHaveLength(1);
  asked[0]?.resolve(list('late'));
  await expect.poll(changes).toBe(1);
  expect(await names()).toEqual(['late']);
  lists.announced();
  expect(await names()).toEqual(['late']);
});

test('a server that fails keeps its last list, and is asked again', async () => {
  const { asked, lists, names } = server({ waitMs: 10_000 });
  const first = names();
  asked[0]?.resolve(list('a'));
  await first;
  lists.announced();
  const second = names();
  asked[1]?.reject(new Error('no'));
  expect(await second).toEqual(['a']);
  const third = names();
  asked[2]?.resolve(list('b'));
  expect(await third).toEqual(['b']);
});

test('a request that is withdrawn does not make a server a slow one', async () => {
  const { asked, lists, names } = server({ waitMs: 10_000 });
  await lists.resources(AbortSignal.abort());
  const next = names();
  asked[0]?.resolve(list('a'));
  expect(await next).toEqual(['a']);
});
