/** A server whose workspace is its own clone lets calls look at it, and change nothing, whoever allowed them. */
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ripgrepPath } from '../../src/process/ripgrep.ts';
import { startServer, type BuiltServer } from '../helpers/built-server.ts';
import { create, edit, judge, read, write, type Call, type Judge } from '../helpers/file-calls.ts';
import { wireClient } from '../helpers/wire-client.ts';

const clone = join(import.meta.dirname, '../..');
let server: BuiltServer;
let decision: Judge['decision'];
let sessions: readonly string[];

beforeAll(async () => {
  server = await startServer({ environment: { GAUNTLET_WORKSPACE: clone } });
  const client = wireClient(server);
  // Only asked about: nothing that this file names is ever run.
  ({ decision } = judge(client, server.home));
  const rules = { allow: ['Bash', 'Edit', 'Write'] };
  sessions = [
    await client.session({ mode: 'bypassPermissions' }),
    await client.session({ mode: 'acceptEdits', rules }),
    await client.session({ rules, cwd: join(clone, 'src') }),
  ];
});

const bash = (command: string): Call => ['Bash', { command }];
const built = join(clone, 'dist/gauntlet.js');

describe('the clone a server runs from', () => {
  it.each<[string, Call]>([
    ['an edit of the build', edit(built, 'a', 'b')],
    ['a new file beside it', create(join(clone, 'dist/new.js'))],
    ['an edit of the sources', write(join(clone, 'bin/serve.ts'))],
    ['an edit of the settings of npm', write(join(clone, 'package.json'))],
    ['its ripgrep', write(ripgrepPath)],
    ['a redirection', bash(`echo x > ${built}`)],
    ['sed -i', bash(`sed -i s/a/b/ ${join(clone, 'bin/start.mjs')}`)],
    ['a copy over it', bash(`cp /tmp/x ${built}`)],
    ['a removal of all of it', bash(`rm -rf ${clone}`)],
    ['a removal of what holds it', bash(`rm -rf ${join(clone, '..')}`)],
    ['a move of it', bash(`mv ${clone} /tmp/elsewhere`)],
    ['tee', bash(`echo x | tee ${built}`)],
  ])('refuses in every mode and by any rule: %s', async (_what, call) => {
    for (const id of sessions) expect(await decision(id, call)).toBe('deny');
  });

  it('can be read', async () => {
    const calls = [read(join(clone, 'package.json')), bash(`head -5 ${join(clone, 'README.md')}`)];
    for (const call of calls) for (const id of sessions.slice(0, 2)) expect(await decision(id, call)).toBe('allow');
  });

  it('is called read-only at the start', () => {
    expect(server.printed()).toContain('read-only, since this server runs from it; set GAUNTLET_WORKSPACE');
  });
});
