/** A session that is longer than one look at the disk should take. */
import { expect, it } from 'vitest';
import { newFolder, openLog } from '../../helpers/log-folders.ts';
import { noticeFrame, openedFrame } from '../../helpers/new-frames.ts';

it('lets others run while it is read from the disk', async () => {
  const folder = newFolder();
  const { log: written } = openLog(folder);
  let head = await written.append('ses_a', 0, [openedFrame('ses_a')]);
  const text = 'x'.repeat(400_000);
  for (let count = 0; count < 100; count += 1) head = await written.append('ses_a', head, [noticeFrame(text)]);
  await written.close();
  const { log } = openLog(folder);
  let turns = 0;
  const counting = setInterval(() => (turns += 1), 1);
  let frames = 0;
  for await (const page of log.read('ses_a', 0, { live: false })) frames += page.length;
  clearInterval(counting);
  expect(frames).toBe(head);
  expect(turns).toBeGreaterThan(0);
});
