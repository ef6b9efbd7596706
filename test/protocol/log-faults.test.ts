/** Faults of the disk below a running server: F03, F05, F06, F07, F28, F31 of what must hold. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { serverHome, startServer, type BuiltServer } from '../helpers/built-server.ts';
import { watchHealth } from '../helpers/health.ts';
import type { ClientSideFrame } from '../helpers/stream-client.ts';
import { block, until, wireClient } from '../helpers/wire-client.ts';

const bash = (command: string, id?: string) => block('Bash', { command }, id);
const isLogged = ({ seq, type }: ClientSideFrame) => seq !== undefined && type !== 'live';
const mounted: string[] = [];
afterAll(() => mounted.forEach((folder) => execFileSync('umount', ['-l', folder])));

/** A home whose data lies on a disk of a few megabytes; where nothing may be mounted, its log may not grow past one. */
function smallHome(megabytes: number) {
  const home = serverHome();
  const data = join(home, 'data');
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0700`, 'tmpfs', data], { stdio: 'ignore' });
    mounted.push(data);
    return { home, settings: {}, ballast: join(data, 'ballast') };
  } catch {
    // Not root, or a container that may not mount.
    return { home, settings: { limits: { logFileBytes: 1_000_000 } }, ballast: undefined };
  }
}

function fill(ballast: string): void {
  try {
    writeFileSync(ballast, Buffer.alloc(64 * 1_024 * 1_024));
  } catch (error) {
    expect(String(error)).toContain('ENOSPC');
  }
}

describe('a full disk', () => {
  it('F06: refuses a batch before its tool starts, says so, and takes it when there is room again', async () => {
    const { home, settings, ballast } = smallHome(4);
    const server = await startServer({ home, settings });
    const client = wireClient(server);
    const sessionId = await client.session({ mode: 'bypassPermissions' });
    const filler = ballast === undefined ? await client.session() : undefined;
    if (ballast !== undefined) fill(ballast);
    const call = { session_id: sessionId, tool_uses: [bash('touch ran', 'same'), bash('x'.repeat(60_000), 'large')] };
    const refused = await until(async () => {
      if (filler !== undefined)
        await client.post('/execute', { session_id: filler, tool_uses: [bash('y'.repeat(99_000))] });
      const { status, body } = await client.post('/execute', call);
      return status === 503 && body.error;
    });
    expect(refused).toMatchObject({ code: 'log_unavailable' });
    expect(existsSync(join(server.workspace, 'ran'))).toBe(false);
    expect((await client.get('/healthz')).status).toBe(200);
    if (ballast === undefined) await client.send('DELETE', `/sessions/${filler}`);
    else rmSync(ballast);
    const { calls } = await client.execute(sessionId, [bash('touch ran', 'same')]);
    expect([calls[0]?.status, existsSync(join(server.workspace, 'ran'))]).toEqual(['ok', true]);
  });

  it('F06: behind its standard error costs the server lines, nothing else', async () => {
    const server = await startServer({ errorFile: '/dev/full', environment: { GAUNTLET_LOG_LEVEL: 'trace' } });
    const client = wireClient(server);
    const sessionId = await client.session({ mode: 'bypassPermissions' });
    for (const word of ['one', 'two', 'three']) {
      expect((await client.execute(sessionId, [bash(`echo ${word}`)])).results[0]?.content).toBe(word);
    }
    expect(await server.end()).toMatchObject({ code: 0 });
  });

  it('F05: costs a large result its file, not the call', async () => {
    const { home, settings, ballast } = smallHome(4);
    const server = await startServer({ home, settings });
    const client = wireClient(server);
    const sessionId = await client.session({ mode: 'bypassPermissions' });
    const { calls, results } = await client.execute(sessionId, [bash('head -c 20000000 /dev/zero | tr "\\0" a')]);
    expect(calls[0]?.status).toBe('ok');
    expect(results[0]?.content).toContain('aaaa');
    if (ballast !== undefined) expect(results[0]?.content).toMatch(/ENOSPC|no space|could not be (kept|written)/i);
    expect((await client.execute(sessionId, [bash('echo alive')])).results[0]?.content).toBe('alive');
  });
});

describe('a log that was damaged while the server was away', () => {
  async function twoSessions(server: BuiltServer) {
    const client = wireClient(server);
    const ids = [
      await client.session({ mode: 'bypassPermissions' }),
      await client.session({ mode: 'bypassPermissions' }),
    ];
    for (const id of ids) {
      for (const word of ['one', 'two', 'three']) await client.execute(id, [bash(`echo ${word} of ${id}`)]);
    }
    return { server, client, ids, log: join(server.dataFolder, 'log.db') };
  }

  it('F03: is a gap to those it concerns and nobody else, and the session goes on', async () => {
    const { server, ids, log } = await twoSessions(await startServer());
    await server.end();
    // Pages that were written twice hold a second copy.
    const damaged = readFileSync(log, 'latin1').replaceAll(`echo two of ${ids[0]}`, `ECHO TWO OF ${ids[0]}`);
    writeFileSync(log, damaged, 'latin1');
    const next = await startServer({ home: server.home });
    const client = wireClient(next);
    const stream = await client.stream(String(ids[0]), { from_seq: 0 });
    const gap = await stream.next('gap');
    expect(gap).toMatchObject({ reason: 'corrupt' });
    await stream.next('live');
    const seqs = stream.frames.filter(isLogged).map(({ seq }) => seq);
    const { head, ...page } = (await client.get(`/sessions/${ids[0]}/events`)).body;
    expect(page['gaps']).toEqual([{ from: gap['from'], to: gap['to'], reason: 'corrupt' }]);
    expect(seqs.length + Number(gap['to']) - Number(gap['from']) + 1).toBe(head);
    expect((await client.get(`/sessions/${ids[1]}/events`)).body).not.toHaveProperty('gaps');
    expect((await client.execute(String(ids[0]), [bash('echo on')])).results[0]?.content).toBe('on');
    expect(next.logged()).toContain('frames_corrupt');
    await stream.close();
  });

  it('F07: never shows another frame under a seq that was seen: it has a new epoch, and all comes again', async () => {
    const server = await startServer();
    // Its own session comes first in the log, and so is in the part that stays.
    const health = await watchHealth(server);
    const { client: before, ids } = await twoSessions(server);
    const id = String(ids[1]);
    const seen = (await before.get(`/sessions/${id}/events`)).body;
    await server.end('SIGKILL');
    const wal = join(server.dataFolder, 'log.db-wal');
    truncateSync(wal, Math.floor(readFileSync(wal).length * 0.9));
    const next = await startServer({ home: server.home });
    const client = wireClient(next);
    const stream = await client.stream(id, { from_seq: seen.head, epoch: seen.epoch });
    const welcome = await stream.next('welcome');
    expect([welcome['resumed'], welcome['epoch'] === seen.epoch]).toEqual([false, false]);
    await stream.next('live');
    expect(stream.frames.filter(isLogged)[0]).toMatchObject({ seq: 1, type: 'opened' });
    await stream.close();
    await health.assertHealthy(next);
  });
});

describe('F28: a client that resumes', () => {
  it('before what retention took is told of the gap, on every door', async () => {
    const limits = { retentionMs: 50, sessionLogBytes: 4_000, idleSessionMs: 50 };
    const client = wireClient(await startServer({ settings: { limits } }));
    const sessionId = await client.session({ mode: 'bypassPermissions' });
    const calls = Array.from({ length: 6 }, (_, each) => bash(`echo ${'x'.repeat(500)}`, `call_${each}`));
    for (const call of calls) await client.execute(sessionId, [call]);
    let looks = { first: 0, count: 0 };
    // Retention may look several times before all of it fits.
    const { first, head } = await until(async () => {
      const { body } = await client.get(`/sessions/${sessionId}/events`);
      const now = Number(body['first']);
      looks = { first: now, count: now === looks.first ? looks.count + 1 : 0 };
      return now > body.head / 2 && looks.count > 30 && { first: now, head: body.head };
    });
    const gap = { from: 1, to: first - 1, reason: 'retention' };
    const { body } = await client.get(`/sessions/${sessionId}/events?from_seq=0`);
    expect([body['first'], body['gaps'], body.frames[0]?.seq]).toEqual([first, [gap], first]);
    const stream = await client.stream(sessionId, { from_seq: 0 });
    expect(await stream.next('welcome')).toMatchObject({ first, head, resumed: true });
    expect(await stream.next('gap')).toMatchObject(gap);
    await stream.close();
    const again = await client.post('/execute', { session_id: sessionId, tool_uses: [calls[0]] });
    expect([again.status, again.body.error.code]).toEqual([410, 'gone']);
    expect((await client.get(`/sessions/${sessionId}/results/call_0`)).status).toBe(410);
  });

  it('from the future, or from another history, gets everything from the first frame', async () => {
    const client = wireClient(await startServer());
    const sessionId = await client.session();
    for (const hello of [{ from_seq: 6 }, { from_seq: 1, epoch: 'another' }]) {
      const stream = await client.stream(sessionId, hello);
      expect(await stream.next('welcome')).toMatchObject({ resumed: false, first: 1, head: 1 });
      await stream.next('live');
      expect(stream.frames.filter(isLogged)).toMatchObject([{ seq: 1 }]);
      await stream.close();
    }
  });
});

describe('F31: an id from before a restart', () => {
  it.each([
    ['clean', 'SIGTERM', 'process'],
    ['by kill -9', 'SIGKILL', 'process'],
    ['by kill -9, with every result synced to disk', 'SIGKILL', 'power'],
  ] as const)('that was %s runs no second time, and is taken for no other input', async (_how, signal, durability) => {
    const server = await startServer({ settings: { durability } });
    const sessionId = await wireClient(server).session({ mode: 'bypassPermissions' });
    await wireClient(server).execute(sessionId, [bash('echo ran >> runs; cat runs', 'same')]);
    await server.end(signal);
    const client = wireClient(await startServer({ home: server.home }));
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => client.execute(sessionId, [bash('echo ran >> runs; cat runs', 'same')])),
    );
    for (const { calls, results } of replies) {
      expect([calls[0]?.replayed, results[0]?.content]).toEqual([true, 'ran']);
    }
    const other = await client.post('/execute', { session_id: sessionId, tool_uses: [bash('echo other', 'same')] });
    expect(other.status).toBe(409);
    expect(readFileSync(join(server.workspace, 'runs'), 'utf8')).toBe('ran\n');
  });
});
