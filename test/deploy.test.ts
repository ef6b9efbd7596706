/** The files in `deploy/`: a service that stops lets running calls finish. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../config/limits.ts';

const read = (name: string) => readFileSync(join(import.meta.dirname, '../deploy', name), 'utf8');

it.each([
  ['gauntlet.service', /^TimeoutStopSec=(\d+)$/m],
  ['compose.yaml', /^ +stop_grace_period: (\d+)s$/m],
])('%s waits longer than the server drains', (name, pattern) => {
  const seconds = Number(pattern.exec(read(name))?.[1]);
  expect(seconds * 1_000).toBeGreaterThan(DEFAULT_LIMITS.drainMs + DEFAULT_LIMITS.killGraceMs);
});

it('the systemd unit sends its first signal to the server alone, and starts it without npm between', () => {
  const unit = read('gauntlet.service');
  expect(unit).toMatch(/^KillMode=mixed$/m);
  expect(unit).toMatch(/^ExecStart=\S*node .*gauntlet\.js serve$/m);
});
