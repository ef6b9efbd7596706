/** Bounds of what upstreams tell clients of their own accord. */
import { expect, test } from 'vitest';
import { noticeRoom, pacedUpdates } from '../../../routes/mcp/paced-notices.ts';

test('a burst of notices is cut, and a few pass', () => {
  const hasRoom = noticeRoom();
  const passed = Array.from({ length: 10_000 }, () => hasRoom()).filter((has) => has);
  expect(passed).toHaveLength(200);
});

test('many changes of many resources are told as few', () => {
  const told: string[] = [];
  const updated = pacedUpdates((uri) => told.push(uri));
  for (let count = 0; count < 10_000; count++) updated(`notes://${count % 100}`);
  updated(`notes://${'x'.repeat(10_000)}`);
  expect(told).toEqual(Array.from({ length: 64 }, (_, index) => `notes://${index}`));
});
