/** A page of the console that is signed in, and says what went wrong in it. */
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import type { BuiltServer } from './built-server.ts';
import { wireClient } from './wire-client.ts';

/** Longest wait for something on a page, in milliseconds: the machine may be busy. */
const PATIENCE_MS = 15_000;

/** Folder for pictures of the main views; absent: none are made. `docs/images` are those of the README. */
const { SCREENSHOTS } = process.env;

/** Get an address that signs a browser in. */
export async function signInAddress(server: Pick<BuiltServer, 'url' | 'token'>): Promise<string> {
  const { body } = await wireClient(server).post('/console/tickets', {});
  return `${server.url}/#ticket=${(body as unknown as { ticket: string }).ticket}`;
}

/**
 * Open a page. At the end of the test it must have logged no error, and have asked nobody but the server.
 *
 * @param mayFail Parts of messages that the page may log as errors.
 */
export async function openPage(
  browser: Browser,
  address: string,
  options: BrowserContextOptions = {},
  mayFail: readonly string[] = [],
): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width: 1_400, height: 900 },
    colorScheme: 'dark',
    ...options,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const problems: string[] = [];
  const report = (problem: string) => void (mayFail.some((part) => problem.includes(part)) || problems.push(problem));
  page.on('pageerror', ({ message }) => report(message));
  page.on('console', (message) => {
    if (message.type() === 'error') report(`${message.text()} (${message.location().url})`);
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.protocol.startsWith('http') && url.origin !== new URL(address).origin) report(`asked ${url.origin}`);
  });
  onTestFinished(() => expect(problems).toEqual([]));
  await page.goto(address);
  return page;
}

/** Open the console, signed in. */
export async function openConsole(
  browser: Browser,
  server: Pick<BuiltServer, 'url' | 'token'>,
  options: BrowserContextOptions = {},
  mayFail: readonly string[] = [],
): Promise<Page> {
  const page = await openPage(browser, await signInAddress(server), options, mayFail);
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
  return page;
}

/** Open one of the main views by its link. */
export async function openView(page: Page, name: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name }).click();
}

/** Make a picture, where pictures are made. */
export async function picture(page: Page, name: string): Promise<void> {
  if (SCREENSHOTS === undefined || SCREENSHOTS === '') return;
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
}

const axeSource = () => readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Check a page against WCAG 2.2 AA. @returns One line for each violation, with the elements that have it. */
export async function violations(page: Page): Promise<readonly string[]> {
  await page.evaluate(axeSource());
  const run = `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })`;
  const { violations: found } = (await page.evaluate(run)) as {
    readonly violations: readonly {
      readonly id: string;
      readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
    }[];
  };
  return found.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary.replaceAll(/\s+/g, ' ')}`),
  );
}
