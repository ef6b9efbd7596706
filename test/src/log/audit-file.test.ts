import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../../config/limits.ts';
import { type AuditFileOptions, openAuditFile } from '../../../src/log/audit-file.ts';
import type { LogProblem } from '../../../src/log/log-problem.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

function auditFile(options: Partial<AuditFileOptions> = {}, folder = join(temporaryFolder(), 'audit')) {
  const problems: LogProblem[] = [];
  const onProblem = (problem: LogProblem): void => void problems.push(problem);
  const file = openAuditFile({ folder, limits: DEFAULT_LIMITS, onProblem, ...options });
  const linesOf = (name = 'audit.jsonl') => readFileSync(join(folder, name), 'utf8').split('\n').filter(Boolean);
  return { file, folder, problems, linesOf };
}

test('lines are on disk before the event loop turns, in order, for the owner alone, behind earlier ones', async () => {
  const { file, folder, linesOf } = auditFile();
  file.write('{"n":1}');
  file.write('{"n":2}');
  await Promise.resolve();
  expect(linesOf()).toEqual(['{"n":1}', '{"n":2}']);
  file.close();
  const again = auditFile({}, folder);
  again.file.write('{"n":3}');
  again.file.close();
  expect(linesOf()).toEqual(['{"n":1}', '{"n":2}', '{"n":3}']);
  expect(lstatSync(folder).mode & 0o777).toBe(0o700);
  expect(lstatSync(join(folder, 'audit.jsonl')).mode & 0o777).toBe(0o600);
});

test('a file that is full makes room for the next, and the oldest goes', () => {
  const { folder } = auditFile();
  for (let n = 1; n <= 6; n++) {
    const { file } = auditFile({ fileBytes: 20, limits: { auditFiles: 2 } }, folder);
    file.write(`{"line":${n},"x":0}`);
    file.close();
  }
  const contents = readdirSync(folder)
    .sort()
    .map((name) => [name, readFileSync(join(folder, name), 'utf8').trim()]);
  expect(contents).toEqual([
    ['audit.1.jsonl', '{"line":5,"x":0}'],
    ['audit.2.jsonl', '{"line":4,"x":0}'],
    ['audit.jsonl', '{"line":6,"x":0}'],
  ]);
});

test.each([
  ['a folder', (path: string) => mkdirSync(path)],
  ['a pipe', (path: string) => execFileSync('mkfifo', [path])],
])('%s in its place is told of once, stops nothing, and the next line says what is missing', async (_what, make) => {
  const { file, folder, problems, linesOf } = auditFile();
  const path = join(folder, 'audit.jsonl');
  make(path);
  file.write('{"n":1}');
  await Promise.resolve();
  expect(problems).toMatchObject([{ code: 'audit_unwritable' }]);
  file.write('{"n":2}');
  file.write('{"n":3}');
  file.close();
  expect(problems).toHaveLength(1);
  rmSync(path, { recursive: true });
  file.write('{"n":4}');
  file.close();
  expect(linesOf().map((line) => JSON.parse(line) as object)).toMatchObject([{ event: 'gap', lost: 3 }, { n: 4 }]);
});
