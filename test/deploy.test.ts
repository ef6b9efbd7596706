/** The files in `deploy/`, and the image: a service that stops lets running calls finish, a build gets what it reads. */
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import picomatch from 'picomatch';
import { expect, it } from 'vitest';
import { SOURCES } from '../bin/build-stamp.mjs';
import { DEFAULT_LIMITS } from '../config/limits.ts';

const root = join(import.meta.dirname, '..');
const read = (name: string) => readFileSync(join(root, 'deploy', name), 'utf8');

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

it('the image is built from every file that the build reads, such as those of the console', () => {
  const paths = SOURCES.flatMap(filesBelow);
  expect(paths).toContain('web/index.html');
  expect(paths.filter((path) => isLeftOut(path))).toEqual([]);
  expect(isLeftOut('test/deploy.test.ts')).toBe(true);
});

function filesBelow(path: string): readonly string[] {
  if (!statSync(join(root, path)).isDirectory()) return [path];
  const entries = readdirSync(join(root, path), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

/** Read `.dockerignore` as Docker does: the last pattern that fits a path, or a folder above it, counts. */
function isLeftOut(path: string): boolean {
  const parts = path.split('/');
  const places = parts.map((_, index) => parts.slice(0, index + 1).join('/'));
  const lines = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n');
  const patterns = lines.filter((line) => line !== '' && !line.startsWith('#'));
  const last = patterns.findLast((pattern) => {
    const fits = picomatch(pattern.replace(/^!/, ''), { dot: true });
    return places.some((place) => fits(place));
  });
  return last !== undefined && !last.startsWith('!');
}
