/** A server killed in the middle of edits: whatever was done, an undo brings back what was there before the session. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { startServer, type BuiltServer } from '../helpers/built-server.ts';
import { block, wireClient } from '../helpers/wire-client.ts';

const KILLS = 20;
const EDITS = 40;

/** Edits of one file and new files in new folders, as one batch. */
function edits(): readonly object[] {
  return Array.from({ length: EDITS }, (_edit, n) => [
    block('Edit', { file_path: 'edited', old_string: `version ${n}.`, new_string: `version ${n + 1}.` }),
    block('Write', { file_path: `new-${n}/deep/file`, content: String(n) }),
  ]).flat();
}

/** Begin, read, edit, and die on the way. @returns The next server, and the session. */
async function killedWhileEditing(server: BuiltServer, cwd: string, afterMs: number) {
  const client = wireClient(server);
  const sessionId = await client.session({ cwd, mode: 'bypassPermissions' });
  await client.execute(sessionId, [block('Read', { file_path: 'edited' })]);
  const running = client.execute(sessionId, edits()).catch(() => undefined);
  await delay(afterMs);
  await server.end('SIGKILL');
  await running;
  const next = await startServer({ home: server.home });
  return { next, sessionId, client: wireClient(next) };
}

describe('an undo after a kill', () => {
  it(`brings back the folder as it was, ${KILLS} times`, { timeout: 120_000 }, async () => {
    let server = await startServer();
    for (let kill = 0; kill < KILLS; kill++) {
      const cwd = join(server.workspace, `kill-${kill}`);
      mkdirSync(cwd);
      writeFileSync(join(cwd, 'edited'), 'version 0.');
      const { next, sessionId, client } = await killedWhileEditing(server, cwd, kill * 7);
      server = next;
      const { status, text } = await client.post(`/sessions/${sessionId}/undo`, { to_seq: 0 });
      expect(status, text).toBe(200);
      expect(readFileSync(join(cwd, 'edited'), 'utf8')).toBe('version 0.');
      expect(readdirSync(cwd)).toEqual(['edited']);
    }
  });
});
