/** Every view of the console, dark and light, checked by axe; the pictures of the README are made here. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect } from 'vitest';
import { browserTest } from '../helpers/browser-test.ts';
import { type BuiltServer, startServer } from '../helpers/built-server.ts';
import { openConsole, openView, picture, violations } from '../helpers/console-page.ts';
import { block, wireClient } from '../helpers/wire-client.ts';

const TESTS = "printf '\\033[32m✓\\033[0m adds\\n\\033[31m✗\\033[0m subtracts: expected 1, got 3\\n'";
let server: BuiltServer;
let sessionId: string;

beforeAll(async () => {
  server = await startServer();
  const client = wireClient(server);
  const text = 'export function subtract(a: number, b: number): number {\n  return a + b;\n}\n';
  writeFileSync(join(server.workspace, 'subtract.ts'), text);
  const review = await client.session({ title: 'Review the pull request', on_ask: 'wait' });
  sessionId = await client.session({
    title: 'Mend subtract()',
    rules: { allow: ['Bash'] },
    on_ask: 'wait',
  });
  await client.execute(sessionId, [
    block('Glob', { pattern: '**/*.ts' }),
    block('Read', { file_path: 'subtract.ts' }),
    block('Bash', { command: TESTS, description: 'Run the tests' }),
    block('Read', { file_path: 'divide.ts' }),
  ]);
  const edit = { file_path: 'subtract.ts', old_string: 'return a + b;', new_string: 'return a - b;' };
  const push = { command: 'git push origin mend-subtract', description: 'Push the branch' };
  // They wait for answers until the server ends.
  void client.execute(review, [block('Bash', push)]).catch(() => undefined);
  void client.execute(sessionId, [block('Edit', edit)]).catch(() => undefined);
});

describe('the console', () => {
  for (const colorScheme of ['dark', 'light'] as const) {
    browserTest(`meets WCAG 2.2 AA in each view, ${colorScheme}`, async (browser) => {
      const page = await openConsole(browser, server, { colorScheme });
      await page.getByRole('link', { name: /Mend subtract/ }).click();
      await page.getByRole('button', { name: 'Allow', exact: true }).waitFor();
      await page.getByText('Live', { exact: true }).waitFor();
      await picture(page, `session-${colorScheme}`);
      expect(await violations(page), 'Calls').toEqual([]);
      for (const part of ['Timing', 'Tasks', 'Changes', 'Rules']) {
        await page.getByRole('navigation', { name: 'Parts of the session' }).getByRole('link', { name: part }).click();
        await page.getByText('Loading…').waitFor({ state: 'detached' });
        expect(await violations(page), part).toEqual([]);
        await picture(page, `${part.toLowerCase()}-${colorScheme}`);
      }
      for (const view of ['Questions', 'Try', 'Explain', 'Search', 'Server']) {
        await openView(page, view);
        await page.getByText('Loading…').waitFor({ state: 'detached' });
        expect(await violations(page), view).toEqual([]);
        await picture(page, `${view.toLowerCase()}-${colorScheme}`);
      }
      await page.keyboard.press('?');
      await page.getByRole('dialog').waitFor();
      expect(await violations(page), 'a dialog').toEqual([]);
    });
  }
});
