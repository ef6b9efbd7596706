/** Limits of a command in a jail where the host has no launcher for them, and where lower ones hold already. */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../../../config/limits.ts';
import { JAIL_LIMITS } from '../../../../src/process/jail/limit-options.ts';
import { createProcessHost } from '../../../../src/process/host-client.ts';
import { run, testProcessHost } from '../../../helpers/process-host.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';

const folder = temporaryFolder();
const hostProgram = new URL('../../../../src/process/host/main.ts', import.meta.url);

it('bubblewrap bounds processes, memory, time and files where the kernel has no Landlock', async () => {
  const hostEntry = join(folder, 'host.ts');
  const unknownMachine = "Object.defineProperty(process, 'arch', { value: 'unknown' });";
  writeFileSync(hostEntry, `${unknownMachine}\nvoid import(${JSON.stringify(hostProgram.href)});\n`);
  const host = createProcessHost({
    limits: DEFAULT_LIMITS,
    ownerId: randomUUID(),
    hostEntry: pathToFileURL(hostEntry),
  });
  afterAll(() => host.close());
  expect(await host.jailSupport()).toMatchObject({ missing: expect.stringContaining('unknown') });

  const launcher = { command: ['env'], identity: 'env', isLimited: true };
  const { stdout } = await run(host, { shellScript: 'ulimit -Hu; ulimit -Hd; ulimit -Hf; ulimit -Ht', launcher });
  const [processes, memoryKib, fileKib, seconds] = stdout.trim().split('\n').map(Number);
  expect(processes).toBeGreaterThanOrEqual(JAIL_LIMITS.processes);
  expect([memoryKib, fileKib, seconds]).toEqual([
    DEFAULT_LIMITS.jailMemoryBytes / 1_024,
    JAIL_LIMITS.fileBytes / 1_024,
    JAIL_LIMITS.cpuSeconds,
  ]);
});

const host = testProcessHost();

it('a lower limit that holds already is not told in the output of a command', async () => {
  // Root may raise any limit, so that only another user meets one.
  const asNobody = process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--clear-groups'] : [];
  const command = [...asNobody, 'bash', '-c', 'ulimit -u 64 && exec "$@"', 'bash'];
  const launcher = { command, identity: 'lower', isLimited: true };
  expect(await run(host, { shellScript: 'ulimit -Hu', launcher })).toMatchObject({ stdout: '64\n', stderr: '' });
});
