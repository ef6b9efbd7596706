/** Tests in a real browser: without one they are skipped by name, and fail in continuous integration. */
import { type Browser, chromium } from 'playwright-core';
import { it } from 'vitest';
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

/** Define a test that is handed a browser, which is closed behind it. */
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
      const browser = await chromium.launch({ executablePath, args: ARGUMENTS });
      try {
        await work(browser);
      } finally {
        await browser.close();
      }
    },
    BROWSER_TEST_MS,
  );
}
