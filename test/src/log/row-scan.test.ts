/** The scan of rows by which calls are found. */
import { expect, it } from 'vitest';
import { newFolder, openLog } from '../../helpers/log-folders.ts';
import { noticeFrame, openedFrame } from '../../helpers/new-frames.ts';

async function scanOf(...messages: readonly string[]) {
  const { log } = openLog(newFolder());
  let head = await log.append('ses_a', 0, [openedFrame('ses_a', 'ann')]);
  for (const message of messages) head = await log.append('ses_a', head, [noticeFrame(message)]);
  return (texts: readonly string[], before?: number) =>
    log.scan.slice({ principal: 'ann', rows: 1_000, texts, ...(before !== undefined && { before }) });
}

it('finds rows that hold all texts, whatever their case, with characters that SQL reads as wildcards', async () => {
  const scan = await scanOf('A Marmalade_Sandwich, 100% of it', 'marmalade');
  const messagesFor = (...texts: readonly string[]) => scan(texts).rows.map(({ frames }) => frames[0]?.text.length);
  expect(messagesFor('marmalade')).toHaveLength(2);
  expect(messagesFor('marmalade_sandwich', '100% of it')).toHaveLength(1);
  expect(messagesFor('marmalade%sandwich')).toEqual([]);
  expect(messagesFor('marmalade_sandwiches')).toEqual([]);
});

it('takes no longer for a long text whose beginning is everywhere', async () => {
  const scan = await scanOf(...Array.from({ length: 8 }, () => 'a'.repeat(500_000)));
  const beganMs = performance.now();
  expect(scan([`${'a'.repeat(1_000)}b`]).rows).toEqual([]);
  // LIKE alone would take ten seconds.
  expect(performance.now() - beganMs).toBeLessThan(1_500);
});

it('begins at the end of the log for a position beyond it', async () => {
  const scan = await scanOf('marmalade');
  expect(scan(['marmalade'], Number.MAX_SAFE_INTEGER).rows).toHaveLength(1);
});
