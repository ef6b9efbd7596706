/** The banner: its first line is for programs, the rest for people. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type BannerFacts, bannerLines } from '../../bin/banner.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const FACTS: BannerFacts = {
  url: 'http://127.0.0.1:4747',
  hostName: undefined,
  tokenFile: '/d/token',
  workspace: '/w',
  isReadOnly: false,
  toolCount: 7,
  consoleUrl: undefined,
  deadRuleCount: 0,
  noJailReason: undefined,
};

it('begins with the address, then tells where things are', () => {
  const lines = bannerLines(FACTS);
  expect(lines[0]).toBe('Listening on http://127.0.0.1:4747');
  expect(lines.join('\n')).toMatch(/\/d\/token[^]*\/w[^]*7[^]*curl/);
});

it('says that nothing can be changed in a workspace the server runs from, and what to do', () => {
  expect(bannerLines({ ...FACTS, isReadOnly: true }).join('\n')).toMatch(/\/w\n +read-only.*GAUNTLET_WORKSPACE/);
  expect(bannerLines(FACTS).join('\n')).not.toContain('read-only');
});

it('counts rules that never decide anything, where there are any', () => {
  expect(bannerLines({ ...FACTS, deadRuleCount: 2 }).join('\n')).toContain('2 never decide anything');
  expect(bannerLines(FACTS).join('\n')).not.toContain('rules');
});

it('says that commands are held by their words alone, where nothing else holds them', () => {
  expect(bannerLines({ ...FACTS, noJailReason: 'it is not Linux' }).join('\n')).toContain(
    'words alone: it is not Linux',
  );
  expect(bannerLines(FACTS).join('\n')).not.toContain('words alone');
});

it('names a token file that a shell can read, whatever its name', () => {
  const folder = join(temporaryFolder(), "it's a $folder");
  mkdirSync(folder);
  writeFileSync(join(folder, 'token'), 'secret');
  const lines = bannerLines({ ...FACTS, tokenFile: join(folder, 'token') });
  const curl = lines.at(-1)?.replace(/^\s*try\s+curl/, 'printf "%s|"');
  expect(execFileSync('bash', ['-c', curl ?? ''], { encoding: 'utf8' })).toContain('|Authorization: Bearer secret|');
});

it('tries a name that gets in, where names were set by hand', () => {
  expect(bannerLines(FACTS).at(-1)).not.toContain('Host:');
  expect(bannerLines({ ...FACTS, hostName: 'box.example' }).at(-1)).toContain(
    'curl -s -H "Host: box.example" -H "Auth',
  );
});
