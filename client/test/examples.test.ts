/** The examples run as they stand: the built package, the real SDKs, a real server, a model that follows a script. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
import { startServer, type BuiltServer } from '../../test/helpers/built-server.ts';
import { providerModel, type ProviderModel } from '../../test/helpers/provider-model.ts';

const run = promisify(execFile);
const client = join(import.meta.dirname, '..');
let server: BuiltServer;
let model: ProviderModel;

beforeAll(async () => {
  server = await startServer();
  model = await providerModel();
  writeFileSync(join(server.workspace, 'notes.md'), 'one\ntwo\n');
});

it.each(readdirSync(join(client, 'examples')))('%s works a task to its end', async (example) => {
  const summary = join(server.workspace, 'summary.txt');
  rmSync(summary, { force: true });
  model.script([
    { calls: [{ name: 'Read', input: { file_path: 'notes.md' }, id: 'call_1' }] },
    { calls: [{ name: 'Write', input: { file_path: 'summary.txt', content: 'Two lines' }, id: 'call_2' }] },
    { text: 'All done.' },
  ]);
  const { stdout } = await run(process.execPath, ['--import', 'tsx', join(client, 'examples', example)], {
    env: {
      ...{ PATH: process.env['PATH'], HOME: server.home, GAUNTLET_URL: server.url, GAUNTLET_TOKEN: server.token },
      ...{ ANTHROPIC_API_KEY: 'none', OPENAI_API_KEY: 'none', GEMINI_API_KEY: 'none' },
      ...{ ANTHROPIC_BASE_URL: model.url, OPENAI_BASE_URL: `${model.url}/v1`, GOOGLE_GEMINI_BASE_URL: model.url },
      OPENAI_AGENTS_DISABLE_TRACING: '1',
    },
  });
  expect(stdout).toContain('All done.');
  expect(existsSync(summary) && readFileSync(summary, 'utf8')).toBe('Two lines');
});
