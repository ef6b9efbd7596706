/** The examples run as they stand: real SDKs, a real browser, a real server, a model that follows a script. */
import { execFile } from 'node:child_process';
import { createReadStream, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserTest } from './helpers/browser-test.ts';
import { type LongRunning, longRunning } from './helpers/long-running.ts';
import { temporaryFolder } from './helpers/temporary-folder.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..');
const workspace = temporaryFolder();
const GAUNTLET_TOKEN = 'a-token-for-the-examples';
const TYPES: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript' };

const dataFolder = temporaryFolder();
const started: LongRunning[] = [];
let environment: Readonly<Record<string, string | undefined>>;
let page: string;

/** Serves the browser example from an origin of its own, as a person would. */
const files = createServer((request, response) => {
  const path = join(root, 'examples/browser', request.url === '/' ? 'index.html' : String(request.url));
  response.setHeader('content-type', TYPES[extname(path)] ?? 'text/plain');
  if (existsSync(path)) createReadStream(path).pipe(response);
  else response.writeHead(404).end();
});

beforeAll(async () => {
  await new Promise<void>((resolve) => files.listen(0, '127.0.0.1', resolve));
  page = `http://127.0.0.1:${(files.address() as AddressInfo).port}`;
  const scripted = join(root, 'examples/scripted-model.ts');
  const model = await longRunning([process.execPath, '--import', 'tsx', scripted], /OPENAI/, { env: process.env });
  const server = await longRunning([process.execPath, join(root, 'dist/gauntlet.js'), 'serve'], /Listening on \S+/, {
    env: {
      ...process.env,
      GAUNTLET_TOKEN,
      GAUNTLET_PORT: '0',
      GAUNTLET_DATA_DIR: dataFolder,
      GAUNTLET_WORKSPACE: workspace,
      GAUNTLET_ALLOWED_ORIGINS: page,
    },
  });
  started.push(model, server);
  environment = {
    ...process.env,
    ...Object.fromEntries(
      model.printed
        .trim()
        .split('\n')
        .map((line) => line.split('=')),
    ),
    GAUNTLET_URL: /http:\S+/.exec(server.printed)?.[0],
    GAUNTLET_TOKEN,
    ANTHROPIC_API_KEY: 'none needed',
    OPENAI_API_KEY: 'none needed',
  };
}, 60_000);

afterAll(async () => {
  await Promise.all(started.map((program) => program.stop()));
  await new Promise((resolve) => files.close(resolve));
});

describe('the examples', () => {
  it.each([['anthropic-agent.ts'], ['openai-agent.ts']])('%s works a task to its end', async (example) => {
    writeFileSync(join(workspace, 'notes.md'), 'one\ntwo\nthree\n');
    const summary = join(workspace, 'summary.txt');
    await run('rm', ['-f', summary]);
    const { stdout } = await run(process.execPath, ['--import', 'tsx', join(root, 'examples', example)], {
      env: environment,
    });
    expect(stdout).toContain('[Write: ok]');
    expect(stdout).toContain('Done after 3 results.');
    expect(readFileSync(summary, 'utf8')).toBe('notes.md has 3 lines\n');
  });

  it('curl.sh lists tools, runs batches and explains a decision', async () => {
    const { stdout } = await run('bash', [join(root, 'examples/curl.sh')], { env: environment });
    expect(stdout).toMatch(/^Bash +built-in/m);
    expect(stdout).toContain('"content":"hello from bash"');
    expect(stdout.match(/"type":"turn_end"/g)).toHaveLength(1);
    expect(stdout).toContain('"behavior":"ask"');
  });

  browserTest('the browser page follows a session and answers its question', async (browser) => {
    const tab = await browser.newPage();
    await tab.goto(`${page}/#url=${environment['GAUNTLET_URL']}&token=${GAUNTLET_TOKEN}`);
    await tab.getByText('following').waitFor();
    await tab.getByRole('button', { name: 'Run' }).click();
    await tab.getByRole('button', { name: 'allow' }).click();
    await tab.getByText('Bash: ok: made').waitFor();
    expect(existsSync(join(workspace, 'made-by-the-browser'))).toBe(true);
  });
});
