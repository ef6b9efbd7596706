/** Signing in: by an address, by a token, and what the page says when that fails. */
import { beforeAll, describe, expect } from 'vitest';
import { browserTest } from '../helpers/browser-test.ts';
import { type BuiltServer, startServer } from '../helpers/built-server.ts';
import { openConsole, openPage, signInAddress } from '../helpers/console-page.ts';

let server: BuiltServer;
beforeAll(async () => {
  server = await startServer();
});

const REFUSED = ['Failed to load resource'];

describe('signing in', () => {
  browserTest('counts once for an address, and leaves no ticket in it', async (browser) => {
    const address = await signInAddress(server);
    const first = await openPage(browser, address);
    await first.getByRole('navigation', { name: 'Main' }).waitFor();
    expect(first.url()).not.toContain('ticket');
    await first.reload();
    await first.getByRole('navigation', { name: 'Main' }).waitFor();
    const second = await openPage(browser, address, {}, REFUSED);
    await second.getByText('This address does not sign you in').waitFor();
    expect(await second.getByRole('navigation', { name: 'Main' }).count()).toBe(0);
  });

  browserTest('works with the token, which is not kept', async (browser) => {
    const page = await openPage(browser, server.url, {}, REFUSED);
    await page.getByLabel('Token').fill('not-the-token-of-this-server');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('The server does not take this token').waitFor();
    await page.getByLabel('Token').fill(server.token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    const kept = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])');
    expect(kept).not.toContain(server.token);
  });

  browserTest('ends by signing out, for the credential everywhere', async (browser) => {
    const page = await openConsole(browser, server, {}, REFUSED);
    await page.goto(`${server.url}/#/server`);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
    await page.reload();
    await page.getByLabel('Token').waitFor();
  });

  browserTest('says what to do where the server is of another version than the page', async (browser) => {
    const page = await openPage(browser, server.url, {}, REFUSED);
    await page.route('**/healthz', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...((await response.json()) as object), version: '99.0.0' } });
    });
    await page.getByLabel('Token').fill(server.token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('The server speaks another version').waitFor();
  });

  browserTest('gets its page with a strict policy, and nothing in it breaks that', async (browser) => {
    await openConsole(browser, server);
    const policy = (await fetch(server.url)).headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
  });
});
