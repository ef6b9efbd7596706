/** Tests in a real browser: without one they are skipped by name, and fail in continuous integration. */
import { type Browser, chromium } from 'playwright-core';
import { afterAll, it } from 'vitest';
import { findProgram, installCommand, isCi } from '../../bin/setup.mjs';

/** A browser on a busy machine takes seconds to start. */
const BROWSER_TEST_MS = 60_000;

const ARGUMENTS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

let running: Browser | undefined;

afterAll(() => running?.close());

/**
 * Define a test that is handed a browser. The tests of a file share it, since it takes a second to start; they share no
 * cookies, storage or cache, which belong to a context, and all contexts are closed behind a test.
 */
export function browserTest(title: string, work: (browser: Browser) => Promise<void>): void {
  it(
    title,
    async ({ skip }) => {
      const executablePath = findProgram('chromium');
      if (executablePath === undefined) {
        const why = `There is no Chromium for "${title}". To add it: ${installCommand('chromium')}`;
        if (isCi()) throw new Error(why);
        console.warn(`Skipped: ${why}`);
        return skip(why);
      }
      // One that crashed in an earlier test is of no use to this one.
      if (running?.isConnected() !== true) running = await chromium.launch({ executablePath, args: ARGUMENTS });
      const browser = running;
      try {
        await work(browser);
      } finally {
        for (const context of browser.contexts()) await context.close();
      }
    },
    BROWSER_TEST_MS,
  );
}
