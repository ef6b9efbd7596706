/** The server over logs of other versions: an older one goes on, a newer one is refused. */
import Database from 'libsql';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runServer, serverHome, startServer } from '../helpers/built-server.ts';
import { OLD_EPOCH, writeLogOfSchema1 } from '../helpers/old-log.ts';
import { block, wireClient } from '../helpers/wire-client.ts';

describe('a data directory', () => {
  it('of the version before is taken over: its sessions are listed, read and go on', async () => {
    const home = serverHome();
    const workspace = join(home, 'workspace');
    const opened = {
      type: 'opened',
      session_id: 'ses_old',
      principal: 'owner',
      created_at: '2026-01-02T03:04:05.678Z',
      cwd: workspace,
      tool_mode: 'normal',
      mode: 'bypassPermissions',
    };
    const frames = [opened, { type: 'notice', level: 'info', code: 'old', message: 'from before' }];
    writeLogOfSchema1(join(home, 'data'), { id: 'ses_old', principal: 'owner', frames });
    const client = wireClient(await startServer({ home }));
    expect((await client.get('/sessions')).body.sessions).toMatchObject([{ session_id: 'ses_old', head: 2 }]);
    const { calls } = await client.execute('ses_old', [block('Bash', { command: 'echo hi' })]);
    expect(calls[0]).toMatchObject({ status: 'ok' });
    const { body } = await client.get('/sessions/ses_old/events');
    expect(body).toMatchObject({ epoch: OLD_EPOCH, first: 1 });
    expect(body.frames.slice(0, 2)).toMatchObject(frames);
  });

  it('of a newer version stops the start with exit code 78 and one line that says so', async () => {
    const home = serverHome();
    const database = new Database(join(home, 'data', 'log.db'));
    database.exec('PRAGMA user_version = 99');
    database.close();
    const { code, stderr } = await runServer({ home });
    expect(code).toBe(78);
    expect(stderr.trim().split('\n')).toEqual([expect.stringMatching(/schema 99.*newer version/)]);
  });
});
