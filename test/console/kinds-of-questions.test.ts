/** Questions that ask for more than one yes: forms, rules for the future, a second person, a person who looks elsewhere. */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect } from 'vitest';
import { browserTest } from '../helpers/browser-test.ts';
import { type BuiltServer, serverHome, startServer } from '../helpers/built-server.ts';
import { openConsole, openView } from '../helpers/console-page.ts';
import { packageServer } from '../helpers/mcp-servers.ts';
import { block, until, wireClient, type WireClient } from '../helpers/wire-client.ts';

const ANNS_TOKEN = 'the-token-of-ann-0123456789';
const HOSTILE = 'Says <img src=x onerror="window.hacked=1"> [x](javascript:window.hacked=1) \u202Egnp.exe';

let server: BuiltServer;
let client: WireClient;
beforeAll(async () => {
  const home = serverHome();
  const words = join(home, 'words');
  writeFileSync(words, HOSTILE);
  const fixture = new URL('../fixtures/mcp-server.mjs', import.meta.url).pathname;
  server = await startServer({
    home,
    mayKeep: ['server-everything', 'mcp-server.mjs'],
    settings: {
      approvals: { twoPerson: ['Bash(touch:*)'] },
      principals: [{ name: 'ann', tokenSha256: createHash('sha256').update(ANNS_TOKEN).digest('hex'), roots: ['.'] }],
      permissions: { allow: ['mcp__everything'] },
      mcpServers: {
        everything: packageServer('@modelcontextprotocol/server-everything/dist/index.js', 'stdio'),
        hostile: { command: process.execPath, args: [fixture, `words=${words}`] },
      },
    },
  });
  client = wireClient(server);
});

describe('the console', () => {
  browserTest('asks with a form what a model wants to know', async (browser) => {
    const page = await openConsole(browser, server);
    await openView(page, 'Questions');
    const sessionId = await client.session({ on_ask: 'wait' });
    const options = ['SQLite', 'Postgres'].map((label) => ({ label, description: `Use ${label}` }));
    const question = { question: 'Which database?', header: 'Database', options, multiSelect: false };
    const reply = client.execute(sessionId, [block('AskUserQuestion', { questions: [question] })]);
    await page.getByRole('radio', { name: /Postgres/ }).check();
    await page.getByRole('button', { name: 'Send answer' }).click();
    expect(JSON.stringify((await reply).results)).toContain('Postgres');
  });

  browserTest('answers the form of an MCP server', async (browser) => {
    const page = await openConsole(browser, server);
    await openView(page, 'Questions');
    const tool = 'mcp__everything__trigger-elicitation-request';
    await until(async () => (await client.get('/tools?schemas=none')).text.includes(`"${tool}"`));
    const sessionId = await client.session({ on_ask: 'wait' });
    const reply = client.execute(sessionId, [block(tool, {})]);
    const form = page.getByRole('article');
    await form.getByRole('textbox').first().fill('Ann');
    await form.getByRole('button', { name: 'Send answer' }).click();
    expect(JSON.stringify((await reply).results)).toContain('Ann');
  });

  browserTest('allows the same for the future, by a rule that a person edits', async (browser) => {
    const page = await openConsole(browser, server);
    await openView(page, 'Questions');
    const sessionId = await client.session({ on_ask: 'wait' });
    const reply = client.execute(sessionId, [block('Bash', { command: 'mkdir one' })]);
    await page.getByRole('button', { name: 'Always allow…' }).click();
    await page.getByRole('textbox', { name: 'Rules' }).fill('Bash(mkdir:*)');
    await page.getByRole('button', { name: 'Allow, and add rules' }).click();
    expect((await reply).calls[0]?.status).toBe('ok');
    const { calls } = await client.execute(sessionId, [block('Bash', { command: 'mkdir two' })]);
    expect(calls[0]?.status).toBe('ok');
  });

  browserTest('takes the yes of two people for what needs two', async (browser) => {
    const owner = await openConsole(browser, server);
    const ann = await openConsole(browser, { url: server.url, token: ANNS_TOKEN });
    for (const page of [owner, ann]) await openView(page, 'Questions');
    const sessionId = await client.session({ on_ask: 'wait' });
    const reply = client.execute(sessionId, [block('Bash', { command: 'touch released' })]);
    await owner.getByRole('button', { name: 'Allow', exact: true }).click();
    await ann.getByText('Needs a yes of 2 people; so far: owner').waitFor();
    await ann.getByRole('button', { name: 'Allow', exact: true }).click();
    expect((await reply).calls[0]?.status).toBe('ok');
    for (const page of [owner, ann]) await page.getByText('Nothing waits for you').waitFor();
  });

  browserTest('tells of a question in its title, and on the desktop while it is hidden', async (browser) => {
    const page = await openConsole(browser, server, { permissions: ['notifications'] });
    // A headless browser is never hidden, and shows no notification.
    await page.evaluate(`
      Object.defineProperty(document, 'hidden', { get: () => true });
      window.told = [];
      window.Notification = class { static permission = 'granted'; constructor(title) { window.told.push(title); } close() {} };
    `);
    const sessionId = await client.session({ on_ask: 'wait' });
    const reply = client.execute(sessionId, [block('Bash', { command: 'mkdir told' })]);
    await expect.poll(() => page.title(), { timeout: 15_000 }).toBe('(1) Gauntlet');
    await expect.poll(() => page.evaluate('window.told.length')).toBe(1);
    await openView(page, 'Questions');
    await page.getByRole('button', { name: 'Deny', exact: true }).click();
    expect((await reply).calls[0]?.status).toBe('denied');
    await expect.poll(() => page.title()).toBe('Gauntlet');
  });

  browserTest('shows what an MCP server says of its tools as text', async (browser) => {
    await client.session({ title: 'any' });
    const page = await openConsole(browser, server);
    await openView(page, 'Try');
    const tool = page.getByLabel('Tool', { exact: true });
    await expect.poll(() => tool.locator('option', { hasText: 'mcp__hostile__echo' }).count()).toBe(1);
    await tool.selectOption('mcp__hostile__echo');
    await page.getByText('onerror').first().waitFor();
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(await page.locator('main img, a[href^="javascript:"]').count()).toBe(0);
    expect(await page.locator('body').innerText()).not.toMatch(/[\u202A-\u202E\u2066-\u2069]/);
  });
});
