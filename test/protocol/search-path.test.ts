/** Programs are never taken from a folder that an agent may write to. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { serverHome, startServer } from '../helpers/built-server.ts';
import { block, until, wireClient } from '../helpers/wire-client.ts';

it('a program that was put into the workspace runs in the place of no other: for commands, hooks, servers and the sandbox', async () => {
  const home = serverHome();
  const programs = join(home, 'workspace/node_modules/.bin');
  const [planted, hookPath] = [join(home, 'planted'), join(home, 'hook-path')];
  mkdirSync(programs, { recursive: true });
  for (const name of ['bash', 'cat', 'printenv', 'bwrap', 'an-mcp-server']) {
    writeFileSync(join(programs, name), `#!/bin/sh\necho ${name} >> ${planted}\n`);
    chmodSync(join(programs, name), 0o755);
  }
  const server = await startServer({
    home,
    environment: { PATH: `${programs}:node_modules/.bin::${process.env['PATH'] ?? ''}` },
    settings: {
      hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: `printenv PATH > ${hookPath}` }] }] },
      mcpServers: { own: { command: 'an-mcp-server' } },
      sandbox: { mode: 'auto' },
    },
  });
  const client = wireClient(server);
  const session = await client.session({ mode: 'bypassPermissions' });
  const { results } = await client.execute(session, [block('Bash', { command: 'echo real | cat; echo "$PATH"' })]);
  expect(results[0]?.content).toMatch(/^real\n\//);
  for (const path of [results[0]?.content.split('\n')[1], readFileSync(hookPath, 'utf8').trim()]) {
    const folders = path?.split(':') ?? [];
    expect(folders).toContain('/usr/bin');
    expect(folders.filter((folder) => folder === programs || !folder.startsWith('/'))).toEqual([]);
  }
  await until(() => Promise.resolve(server.logged().includes('an-mcp-server')));
  expect(existsSync(planted)).toBe(false);
});
