/** The task list that a session shares with its agents, over the wire. */
import Database from 'libsql';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startServer } from '../helpers/built-server.ts';
import { block, wireClient, type WireClient } from '../helpers/wire-client.ts';

const PLUGIN = new URL('../fixtures/inner-tools.mjs', import.meta.url).pathname;
const settings = { plugins: [PLUGIN] };
const create = (subject: string) => ({ name: 'TaskCreate', input: { subject, description: 'Do it' } });

async function run(client: WireClient, session: string, name: string, input: object): Promise<string> {
  const { results } = await client.execute(session, [block(name, input)]);
  return results[0]?.content ?? '';
}

describe('the task list of a session', () => {
  it(
    'survives a kill, is changed by its child sessions, asks nobody, and goes with the session',
    { timeout: 60_000 },
    async () => {
      const server = await startServer({ settings });
      const before = wireClient(server);
      const session = await before.session({ mode: 'plan' });
      expect(await run(before, session, 'TaskCreate', create('Look around').input)).toBe(
        'Created task #1: Look around',
      );
      const worker = await before.session({ mode: 'bypassPermissions' });
      await run(before, worker, 'TaskCreate', create('First').input);
      await run(before, worker, 'Delegate', { blocks: [create('Second'), { name: 'TaskList', input: {} }] });
      await server.end('SIGKILL');

      const next = await startServer({ home: server.home, settings });
      const client = wireClient(next);
      expect(await run(client, session, 'TaskList', {})).toBe('#1 [pending] Look around');
      expect(await run(client, worker, 'TaskList', {})).toBe('#1 [pending] First\n#2 [pending] Second');
      const blocks = [
        { name: 'Delegate', input: { blocks: [{ name: 'TaskUpdate', input: { taskId: '1', status: 'completed' } }] } },
      ];
      await run(client, worker, 'Delegate', { blocks });
      expect(await run(client, worker, 'TaskGet', { taskId: '1' })).toContain('Status: completed');

      expect((await client.send('DELETE', `/sessions/${worker}`)).status).toBe(204);
      expect(await run(client, session, 'TaskList', {})).toBe('#1 [pending] Look around');
    },
  );

  it('leaves nothing behind in the store when sessions are removed', async () => {
    const server = await startServer();
    const client = wireClient(server);
    const session = await client.session();
    await run(client, session, 'TaskCreate', create('Gone soon').input);
    await client.send('DELETE', `/sessions/${session}`);
    await server.end('SIGTERM');
    const log = new Database(join(server.dataFolder, 'log.db'));
    expect(log.prepare('SELECT key FROM shared').all()).toEqual([]);
    log.close();
  });

  it('draws its calls for people, and says in one line what is wrong with an input', async () => {
    const client = wireClient(await startServer());
    const session = await client.session();
    await run(client, session, 'TaskCreate', { subject: 'Draw', description: '' });
    expect(await run(client, session, 'TaskUpdate', { taskId: '1', state: 'completed' })).toContain(
      'unknown field `state`',
    );
    expect(await run(client, session, 'TaskUpdate', { taskId: '2', status: 'completed' })).toContain(
      'There is no task "2". There are #1: look with TaskList',
    );
    const results = (await client.frames(session)).filter(({ type }) => type === 'result');
    expect(results.map(({ display }) => (display as { title: string }).title)).toEqual([
      'Task #1 added',
      expect.stringContaining('InputValidationError'),
      'Could not change the task',
    ]);
  });
});
