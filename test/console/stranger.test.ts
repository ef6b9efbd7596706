/** The path of a stranger through the console, in a browser: from the printed address to an undo, and past a crash. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { browserTest } from '../helpers/browser-test.ts';
import { startServer } from '../helpers/built-server.ts';
import { openPage, openView, picture } from '../helpers/console-page.ts';

describe('the console', () => {
  browserTest(
    'leads from the printed address to a call, a question, an edit, a diff, an undo and a search',
    async (browser) => {
      const server = await startServer();
      const address = /http:\/\/\S+#ticket=\S+/.exec(server.printed())?.[0] ?? '';
      const page = await openPage(browser, address);
      const made = join(server.workspace, 'notes.txt');

      await page.getByRole('button', { name: 'New session' }).first().click();
      await page.getByLabel('Title', { exact: true }).fill('First steps');
      await page.getByRole('button', { name: 'Begin session' }).click();
      await page.getByRole('heading', { name: 'First steps' }).waitFor();

      await openView(page, 'Try');
      await page.getByRole('textbox', { name: 'command' }).fill('echo hello from the console');
      await page.getByRole('button', { name: 'Run' }).click();
      await page.getByLabel('Result').getByText('hello from the console', { exact: true }).waitFor();
      await picture(page, 'try');

      await page.getByLabel('Tool', { exact: true }).selectOption('Write');
      await page.getByRole('textbox', { name: 'file_path' }).fill('notes.txt');
      await page.getByRole('textbox', { name: 'content' }).fill('first draft\n');
      await page.getByRole('button', { name: 'Run' }).click();
      await openView(page, 'Questions');
      await page.getByRole('button', { name: 'Edit input' }).click();
      await page.getByRole('textbox', { name: 'content' }).fill('edited by a person\n');
      await picture(page, 'questions');
      await page.getByRole('button', { name: 'Allow as edited' }).click();
      await page.getByText('Nothing waits for you').waitFor();
      await expect.poll(() => existsSync(made) && readFileSync(made, 'utf8')).toBe('edited by a person\n');

      await openView(page, 'Sessions');
      await page.getByRole('link', { name: /First steps/ }).click();
      await page.getByRole('button', { name: 'Actions of this session' }).click();
      const saving = page.waitForEvent('download');
      await page.getByRole('menuitem', { name: 'Export as Markdown' }).click();
      expect(readFileSync(await (await saving).path(), 'utf8')).toContain('hello from the console');

      await page.getByRole('link', { name: 'Changes' }).click();
      await page.getByText('edited by a person').waitFor();
      await picture(page, 'changes');
      await page.getByRole('button', { name: 'Undo…' }).click();
      await page.getByRole('dialog', { name: 'What an undo would do' }).getByText('notes.txt').first().waitFor();
      await page.getByRole('button', { name: 'Undo now' }).click();
      await expect.poll(() => existsSync(made)).toBe(false);

      await openView(page, 'Search');
      await page.getByLabel('Words').fill('hello');
      await page.getByRole('button', { name: 'Search' }).click();
      await page
        .getByRole('link', { name: /hello from the console/ })
        .first()
        .click();
      await page.getByRole('heading', { name: 'First steps' }).waitFor();
    },
  );

  browserTest('goes on where it was when the server was killed and started again', async (browser) => {
    const first = await startServer();
    const page = await openPage(browser, /http:\/\/\S+#ticket=\S+/.exec(first.printed())?.[0] ?? '', {}, [
      'Failed to load resource',
      'WebSocket connection to',
    ]);
    await page.getByRole('button', { name: 'New session' }).first().click();
    await page.getByLabel('Title', { exact: true }).fill('Outlives a crash');
    await page.getByRole('button', { name: 'Begin session' }).click();
    await page.getByText('Live', { exact: true }).waitFor();
    const run = async (words: string) => {
      await openView(page, 'Try');
      await page.getByRole('textbox', { name: 'command' }).fill(`echo ${words}`);
      await page.getByRole('button', { name: 'Run' }).click();
      await page.getByLabel('Result').getByText(words, { exact: true }).waitFor();
      await openView(page, 'Sessions');
      await page.getByRole('link', { name: /Outlives a crash/ }).click();
    };
    await run('before the crash');

    await first.end('SIGKILL');
    await page.getByText('Connection lost', { exact: false }).first().waitFor();
    const { port } = new URL(first.url);
    await startServer({ home: first.home, environment: { GAUNTLET_PORT: port } });
    await page.getByText('Live', { exact: true }).waitFor();
    await run('after the crash');
    for (const words of ['before the crash', 'after the crash']) {
      await expect.poll(() => page.getByRole('main').getByText(words, { exact: true }).count()).toBe(1);
    }
  });
});
