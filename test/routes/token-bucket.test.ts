import { expect, test } from 'vitest';
import { createTokenBucket } from '../../routes/token-bucket.ts';

function bucketAt(burst: number, perSecond: number) {
  const clock = { ms: 0 };
  const bucket = createTokenBucket(burst, perSecond, () => clock.ms);
  const takeAll = () => {
    let count = 0;
    while (bucket.take()) count += 1;
    return count;
  };
  return { clock, bucket, takeAll };
}

test('a burst is there at once, and then so many a second', () => {
  const { clock, takeAll } = bucketAt(5, 2);
  expect(takeAll()).toBe(5);
  clock.ms = 1_000;
  expect(takeAll()).toBe(2);
  clock.ms = 1_750;
  expect(takeAll()).toBe(1);
  clock.ms = 2_000;
  expect(takeAll()).toBe(1);
});

test('no more than a burst is ever saved up', () => {
  const { clock, takeAll } = bucketAt(3, 100);
  expect(takeAll()).toBe(3);
  clock.ms = 60_000;
  expect(takeAll()).toBe(3);
});

test('an empty one says how long to wait', () => {
  const { clock, bucket, takeAll } = bucketAt(1, 4);
  takeAll();
  expect(bucket.waitMs).toBe(250);
  clock.ms = 200;
  expect(bucket.waitMs).toBe(50);
  clock.ms = 250;
  expect(bucket.take()).toBe(true);
});
