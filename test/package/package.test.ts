/**
 * A clean checkout becomes a package and an image, by the commands that publish it and by those of the Dockerfile, and
 * both run where nothing else of it is.
 */
import { cpSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { basename, dirname, extname, join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { execa } from 'execa';
import { beforeAll, describe, expect, it } from 'vitest';
import { longRunning } from '../helpers/long-running.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { block, until, wireClient } from '../helpers/wire-client.ts';

const root = join(import.meta.dirname, '../..');
const MAX_INSTALLED_BYTES = 60e6;
const TOKEN = 'a-token-for-the-package';
/** One red pixel. */
const IMAGE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8').replaceAll('\\\n', ' ');
const [, buildStage = ''] = /^FROM base AS build\n([^]*?)^FROM /m.exec(dockerfile) ?? [];
/** The commands of the stage that builds, in order: the dependencies, then the rest. */
const [installs = '', ...builds] = [...buildStage.matchAll(/^RUN (.*)$/gm)].map(([, command = '']) => command);
const checkout = temporaryFolder();
let tarball: string;

/** Settings of npm that run this test hold for none of its installs. */
const environment = (home = temporaryFolder()) => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_'))),
  GAUNTLET_TOKEN: TOKEN,
  GAUNTLET_PORT: '0',
  GAUNTLET_DATA_DIR: join(home, 'data'),
});

beforeAll(async () => {
  const { stdout } = await execa('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
  });
  // Where `node_modules` is a link, it would be installed into.
  for (const path of stdout.split('\0').filter((path) => path !== '' && path !== 'node_modules')) {
    mkdirSync(join(checkout, dirname(path)), { recursive: true });
    cpSync(join(root, path), join(checkout, path));
  }
  await execa('bash', ['-ec', installs], { cwd: checkout, env: environment(), extendEnv: false });
  const packed = await execa('npm', ['pack', '--json'], { cwd: checkout, env: environment(), extendEnv: false });
  const [{ filename }] = JSON.parse(packed.stdout) as [{ filename: string }];
  tarball = join(temporaryFolder(), basename(filename));
  renameSync(join(checkout, filename), tarball);
});

/** Install the package into an empty folder. @returns The folder. */
async function installed(...options: string[]): Promise<string> {
  const folder = temporaryFolder();
  await execa('npm', ['install', ...options, tarball], { cwd: folder, env: environment(), extendEnv: false });
  return folder;
}

/** Start a server; it ends with the test. */
async function started(words: readonly [string, ...string[]], cwd: string, more: Record<string, string> = {}) {
  const server = await longRunning(words, /Listening on \S+\n/, { cwd, env: { ...environment(), ...more } });
  const [, url = ''] = /Listening on (\S+)\n/.exec(server.printed) ?? [];
  return { ...server, url };
}

/** Run a tool over each native part, and the parts that load late. */
async function expectWholeServer(url: string, folder: string): Promise<void> {
  writeFileSync(join(folder, 'notes.md'), 'one two\n');
  writeFileSync(join(folder, 'pixel.png'), Buffer.from(IMAGE, 'base64'));
  const client = wireClient({ url, token: TOKEN });
  expect(await (await fetch(`${url}/healthz`)).json()).toMatchObject({ status: 'ok' });
  const sessionId = await client.session({ cwd: folder });
  const { calls } = await client.execute(sessionId, [
    block('Glob', { pattern: '*.md' }),
    block('Grep', { pattern: 'two' }),
    block('Read', { file_path: 'pixel.png' }),
    block('Bash', { command: 'cat notes.md' }),
    block('REPL', { code: '1 + 1' }),
  ]);
  expect(calls.map(({ name, status }) => [name, status])).toEqual([
    ['Glob', 'ok'],
    ['Grep', 'ok'],
    ['Read', 'ok'],
    ['Bash', 'ok'],
    ['REPL', expect.stringMatching(/^(ok|denied)$/)],
  ]);
  for (const path of ['/docs/swagger-ui-bundle.js', '/openapi.json', '/tools?schemas=full', '/metrics']) {
    expect((await client.get(path)).status).toBe(200);
  }
  await expectConsole(url);
}

/** Fetch the page of the console and each file that it names. */
async function expectConsole(url: string): Promise<void> {
  const page = await fetch(url);
  expect(page.status).toBe(200);
  expect(page.headers.get('content-type')).toMatch(/^text\/html/);
  const paths = [...(await page.text()).matchAll(/(?:src|href)="(\/console\/[^"]+)"/g)].map(([, path = '']) => path);
  expect(paths.map((path) => extname(path)).toSorted()).toEqual(expect.arrayContaining(['.css', '.js']));
  for (const path of paths) expect((await fetch(`${url}${path}`)).status).toBe(200);
}

const hasEnded = (url: string): Promise<boolean> =>
  fetch(`${url}/healthz`).then(
    () => false,
    () => true,
  );

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function bytesIn(folder: string): number {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return entries.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

describe('the package of a clean checkout, installed into an empty folder', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await installed();
  });

  it('has a command that says what it can do', async () => {
    const { stdout } = await execa('npx', ['gauntlet', '--help'], { cwd: folder });
    expect(stdout).toMatch(/^gauntlet: executes tool calls/);
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    expect((await execa('npx', ['gauntlet', '--version'], { cwd: folder })).stdout).toBe(version);
  });

  it('starts the server, with all of its parts', async () => {
    const workspace = temporaryFolder();
    const server = await started(['npx', 'gauntlet'], folder, { GAUNTLET_WORKSPACE: workspace });
    await expectWholeServer(server.url, workspace).finally(() => server.stop());
    // npx has ended, and the server does as soon as it notices.
    await until(() => hasEnded(server.url));
  });

  it('speaks MCP over standard input and output, with a server that it starts and ends', async () => {
    const workspace = temporaryFolder();
    const port = await freePort();
    const mcp = new Client({ name: 'test', version: '1' });
    const env = { ...environment(), GAUNTLET_WORKSPACE: workspace, GAUNTLET_PORT: String(port) };
    await mcp.connect(new StdioClientTransport({ command: 'npx', args: ['gauntlet', 'mcp'], cwd: folder, env }));
    try {
      writeFileSync(join(workspace, 'notes.md'), '');
      expect((await mcp.listTools()).tools.map(({ name }) => name)).toContain('Glob');
      const { content } = await mcp.callTool({ name: 'Glob', arguments: { pattern: '*.md' } });
      expect(content).toMatchObject([{ type: 'text', text: 'notes.md' }]);
    } finally {
      await mcp.close();
    }
    await until(() => hasEnded(`http://127.0.0.1:${port}`));
  });

  it('takes less than 60 MB without its optional part', () => {
    for (const name of ['sharp', '@img']) rmSync(join(folder, 'node_modules', name), { recursive: true, force: true });
    expect(bytesIn(join(folder, 'node_modules'))).toBeLessThan(MAX_INSTALLED_BYTES);
  });

  it('without the optional part starts too', async () => {
    const workspace = temporaryFolder();
    const server = await started(['npx', 'gauntlet'], folder, { GAUNTLET_WORKSPACE: workspace });
    await expectWholeServer(server.url, workspace).finally(() => server.stop());
  });

  it('says what is missing where npm left native parts out', async () => {
    const bare = await installed('--omit=optional');
    const { stderr, exitCode } = await execa('npx', ['gauntlet'], {
      cwd: bare,
      env: environment(),
      extendEnv: false,
      reject: false,
    });
    expect(stderr).toMatch(/the native part "@libsql\/.*" is not installed.*--include=optional/);
    expect(exitCode).toBe(1);
  });
});

it('the image runs what its steps build', async () => {
  for (const command of builds)
    await execa('bash', ['-ec', command], { cwd: checkout, env: environment(), extendEnv: false });
  const image = temporaryFolder();
  for (const [, from = ''] of dockerfile.matchAll(/^COPY --from=build (.*) \S+$/gm)) {
    for (const path of from.split(' ')) {
      cpSync(path.replace('/gauntlet', checkout), path.replace('/gauntlet', image), { recursive: true });
    }
  }
  const [, entrypoint = '[]'] = /^ENTRYPOINT (.*)$/m.exec(dockerfile) ?? [];
  const [, , ...words] = JSON.parse(entrypoint.replaceAll('/gauntlet/', `${image}/`)) as string[];
  const workspace = temporaryFolder();
  const server = await started([words[0] ?? '', ...words.slice(1), 'serve'], workspace, {
    GAUNTLET_WORKSPACE: workspace,
  });
  await expectWholeServer(server.url, workspace).finally(() => server.stop());
  expect(bytesIn(join(image, 'node_modules'))).toBeLessThan(2 * MAX_INSTALLED_BYTES);
});
