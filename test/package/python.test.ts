/** The Python client beside the packages `anthropic` and `openai`, from their registry, and a model that follows a script. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer, type BuiltServer } from '../helpers/built-server.ts';
import { longRunning, type LongRunning } from '../helpers/long-running.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const root = join(import.meta.dirname, '../..');
const folder = temporaryFolder();
const python = join(folder, 'bin/python');
/** The scripted model's task, over the runner of the Anthropic package. */
const TOOL_RUNNER = `
import os, anthropic
from anthropic.lib.tools import ToolError
from gauntlet_client import anthropic_tools, connect
with connect(os.environ["GAUNTLET_URL"], os.environ["GAUNTLET_TOKEN"], {"rules": {"allow": ["Write"]}}) as gauntlet:
    tools = anthropic_tools(gauntlet, anthropic.beta_tool, ToolError)
    by_name = {tool.name: tool for tool in tools}
    print(by_name["Grep"].call({"pattern": "two", "-n": True, "output_mode": "content"}))
    try: by_name["Read"].call({"file_path": "none"})
    except ToolError as error: print(error.content)
    messages = [{"role": "user", "content": "Summarise notes.md"}]
    runner = anthropic.Anthropic().beta.messages.tool_runner(model="m", max_tokens=9, messages=messages, tools=tools, stream=True)
    for stream in runner: last = stream.get_final_message()
    print(last.content[-1].text)
`;
let server: BuiltServer;
let model: LongRunning;
let environment: Readonly<Record<string, string | undefined>>;

beforeAll(async () => {
  await execa('python3', ['-m', 'venv', folder]);
  await execa(python, ['-m', 'pip', 'install', '--quiet', 'anthropic', 'openai']);
  server = await startServer();
  const scripted = join(root, 'examples/scripted-model.ts');
  model = await longRunning([process.execPath, '--import', 'tsx', scripted], /OPENAI/, { env: process.env });
  const addresses = model.printed.trim().split('\n');
  environment = {
    PATH: process.env['PATH'],
    PYTHONPATH: join(root, 'client/python'),
    PYTHONDONTWRITEBYTECODE: '1',
    GAUNTLET_URL: server.url,
    GAUNTLET_TOKEN: server.token,
    ANTHROPIC_API_KEY: 'none needed',
    OPENAI_API_KEY: 'none needed',
    ...Object.fromEntries(addresses.map((line) => line.split('='))),
  };
  writeFileSync(join(server.workspace, 'notes.md'), 'one\ntwo\nthree\n');
});

afterAll(() => model.stop());

describe('the Python client', () => {
  it.each([
    ['with the package "anthropic"', [join(root, 'client/python/examples/anthropic_agent.py')], []],
    ['with the package "openai"', [join(root, 'client/python/examples/openai_agent.py')], []],
    [
      "with the package's own tool runner",
      ['-c', TOOL_RUNNER],
      ['notes.md:2:two', expect.stringMatching(/^Cannot read "none"/)],
    ],
  ])('works a task to its end %s', async (_title, words, before) => {
    const { stdout } = await execa(python, words, { env: environment, extendEnv: false });
    expect(stdout.split('\n')).toEqual([...before, 'Done after 3 results.']);
    const summary = join(server.workspace, 'summary.txt');
    expect(readFileSync(summary, 'utf8')).toBe('notes.md has 3 lines\n');
    rmSync(summary);
  });
});
