/** Content that would like to be more than text: it stays text, and the page stays usable. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect } from 'vitest';
import { browserTest } from '../helpers/browser-test.ts';
import { type BuiltServer, startServer } from '../helpers/built-server.ts';
import { openConsole } from '../helpers/console-page.ts';
import { block, wireClient, type WireClient } from '../helpers/wire-client.ts';

const MARKUP =
  '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>[link](javascript:window.hacked=1)';
const MEGABYTES = 5e6;

let server: BuiltServer;
let client: WireClient;
beforeAll(async () => {
  server = await startServer();
  client = wireClient(server);
  writeFileSync(join(server.workspace, 'long.txt'), 'x'.repeat(MEGABYTES));
});

describe('hostile content', () => {
  browserTest('stays text: markup, colours, directions, links and names of files', async (browser) => {
    const sessionId = await client.session({ title: `${MARKUP}\u202Eevil`, mode: 'bypassPermissions' });
    const escapes = `\\033]0;owned\\007\\033[2J\\033[8;1mhidden\\033[0m\\033[31mred\\033[0m\\u202Egnp.exe`;
    await client.execute(sessionId, [
      block('Write', { file_path: '<img src=x onerror=window.hacked=1>.txt', content: MARKUP }),
      block('Bash', { command: `printf '%s\\n' '${MARKUP.replaceAll("'", '')}'; printf '${escapes}\\n'` }),
      block('Bash', { command: 'echo a\u202Eb', description: `Harmless\u202E${MARKUP}` }),
      block('mcp__<b>x</b>__tool', { words: MARKUP }),
    ]);
    const page = await openConsole(browser, server);
    await page.goto(`${server.url}/#/sessions/${sessionId}`);
    await page.getByText('onerror').first().waitFor();
    await page
      .getByRole('button', { name: /printf/ })
      .first()
      .click();
    await page.getByText('red', { exact: true }).first().waitFor();
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    // A long title pushes nothing out of view.
    const state = await page.getByText('Live', { exact: true }).boundingBox();
    expect((state?.x ?? Infinity) + (state?.width ?? 0)).toBeLessThanOrEqual(1_400);
    expect(await page.locator('main img, main script, main iframe').count()).toBe(0);
    expect(await page.locator('a[href^="javascript:"]').count()).toBe(0);
    expect(await page.title()).not.toContain('owned');
    // No character that reorders the text around it is left in the page.
    expect(await page.locator('body').innerText()).not.toMatch(/[\u202A-\u202E\u2066-\u2069\u001B]/);
  });

  browserTest('of five megabytes in a line opens in seconds, and in parts', async (browser) => {
    const sessionId = await client.session({ mode: 'bypassPermissions' });
    await client.execute(sessionId, [block('Bash', { command: 'cat long.txt' })]);
    const page = await openConsole(browser, server);
    await page.goto(`${server.url}/#/sessions/${sessionId}`);
    await page.getByText('xxxxxxxxxx').first().waitFor();
    const shown = await page.evaluate('document.body.innerText.length');
    expect(shown).toBeLessThan(500_000);
  });

  browserTest('in many calls is drawn where somebody looks: at the end first', async (browser) => {
    const sessionId = await client.session({ mode: 'bypassPermissions' });
    for (const name of ['first.txt', 'between.txt', 'last.txt']) writeFileSync(join(server.workspace, name), 'one\n');
    for (let batch = 0; batch < 4; batch++) {
      const paths = Array.from({ length: 200 }, () => 'between.txt');
      if (batch === 0) paths[0] = 'first.txt';
      if (batch === 3) paths[199] = 'last.txt';
      await client.execute(
        sessionId,
        paths.map((file_path) => block('Read', { file_path })),
      );
    }
    const page = await openConsole(browser, server);
    await page.goto(`${server.url}/#/sessions/${sessionId}`);
    await page.getByRole('button', { name: /last\.txt/ }).waitFor();
    expect(await page.getByRole('article').count()).toBeLessThan(500);
    const toEnd = page.getByRole('button', { name: 'To the latest' });
    expect(await toEnd.count()).toBe(0);
    await page.getByRole('region', { name: 'Calls' }).press('Home');
    await page.getByRole('button', { name: /first\.txt/ }).waitFor();
    await toEnd.click();
    await page.getByRole('button', { name: /last\.txt/ }).waitFor();
  });
});
