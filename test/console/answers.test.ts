/** Questions in the browser: answered by one of two people, by the keyboard alone, and on a phone. */
import { beforeAll, describe, expect } from 'vitest';
import { browserTest } from '../helpers/browser-test.ts';
import { type BuiltServer, startServer } from '../helpers/built-server.ts';
import { openConsole, openView, violations } from '../helpers/console-page.ts';
import { block, wireClient, type WireClient } from '../helpers/wire-client.ts';

let server: BuiltServer;
let client: WireClient;
beforeAll(async () => {
  server = await startServer();
  client = wireClient(server);
});

/** Begin a call that is asked about. @returns Resolves with its status. */
async function asked(title: string, content: string): Promise<{ readonly status: Promise<string | undefined> }> {
  const sessionId = await client.session({ title, rules: { ask: ['Write'] }, on_ask: 'wait' });
  const reply = client.execute(sessionId, [block('Write', { file_path: `${title}.txt`, content })]);
  return { status: reply.then(({ calls }) => calls[0]?.status) };
}

describe('a question', () => {
  browserTest('that one person answers disappears at once for another', async (browser) => {
    const [ann, bob] = [await openConsole(browser, server), await openConsole(browser, server)];
    for (const page of [ann, bob]) await openView(page, 'Questions');
    const { status } = await asked('shared', 'text\n');
    for (const page of [ann, bob]) await page.getByRole('button', { name: 'Allow', exact: true }).waitFor();
    await ann.getByRole('button', { name: 'Allow', exact: true }).click();
    expect(await status).toBe('ok');
    await bob.getByText('Nothing waits for you').waitFor();
    expect(
      await bob.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Questions' }).innerText(),
    ).toBe('Questions');
  });

  browserTest('is denied with words, and the model is told them', async (browser) => {
    const page = await openConsole(browser, server);
    await openView(page, 'Questions');
    const sessionId = await client.session({ rules: { ask: ['Write'] }, on_ask: 'wait' });
    const reply = client.execute(sessionId, [block('Write', { file_path: 'no.txt', content: 'no' })]);
    await page.getByRole('button', { name: 'Deny with a message' }).click();
    await page.getByLabel('Message for the model').fill('Use the other folder');
    await page.getByRole('group').or(page.locator('form')).getByRole('button', { name: 'Deny', exact: true }).click();
    expect(JSON.stringify((await reply).results)).toContain('Use the other folder');
  });

  browserTest('is found, read and answered by the keyboard alone', async (browser) => {
    const page = await openConsole(browser, server);
    const { status } = await asked('keys', 'by keyboard\n');
    await page.getByRole('link', { name: /Questions.*1/ }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('q');
    await page.getByRole('article', { name: /Write/ }).or(page.getByRole('article')).first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('a');
    expect(await status).toBe('ok');
    await page.getByText('Nothing waits for you').waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    for (const key of ['Escape', 'g', 's']) await page.keyboard.press(key);
    await page.getByRole('button', { name: 'New session' }).first().waitFor();
    await page.keyboard.press('n');
    await page.getByRole('textbox', { name: 'Title' }).fill('made by keyboard');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'made by keyboard' }).waitFor();
  });

  browserTest('is answered on a phone, whose pages never scroll sideways', async (browser) => {
    const page = await openConsole(browser, server, { viewport: { width: 390, height: 844 }, hasTouch: true });
    const { status } = await asked('phone', `${'a long line '.repeat(60)}\n`);
    await openView(page, 'Questions');
    const isWide = () => page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
    await page.getByRole('button', { name: 'Allow', exact: true }).waitFor();
    expect(await isWide()).toBe(false);
    expect(await violations(page)).toEqual([]);
    const box = await page.getByRole('button', { name: 'Allow', exact: true }).boundingBox();
    expect(box?.height).toBeGreaterThanOrEqual(44);
    await page.getByRole('button', { name: 'Allow', exact: true }).tap();
    expect(await status).toBe('ok');
    for (const view of ['Sessions', 'Try', 'Explain', 'Search', 'Server']) {
      await openView(page, view);
      await page
        .getByRole('heading', { level: 1 })
        .or(page.getByRole('heading', { level: 2 }))
        .first()
        .waitFor();
      expect(await isWide(), view).toBe(false);
    }
  });
});
