/** The search of calls, over a real log. */
import { expect, it } from 'vitest';
import { createCallSearch } from '../../../../src/session/search/search-calls.ts';
import { newFolder, openLog } from '../../../helpers/log-folders.ts';

it('runs two searches of one principal at once, and leaves room for another', async () => {
  const { log } = openLog(newFolder());
  const contextOf = () => Promise.reject(new Error('There are no sessions'));
  const search = createCallSearch({ scan: log.scan, readDenial: () => () => false, contextOf });
  const run = (principal: string) => search(principal, { text: 'x', limit: 1 }, new AbortController().signal);
  const outcomes = await Promise.allSettled([run('ann'), run('ann'), run('ann'), run('ben')]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
  expect(await run('ann')).toEqual({ hits: [] });
});
