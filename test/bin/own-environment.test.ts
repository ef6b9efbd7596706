/** The environment as the server goes on with it, and as other processes see it. */
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';

const module = join(import.meta.dirname, '../../bin/own-environment.ts');
const TOKEN = 'canary-token-0123456789abcdef';
const OTHERS = {
  PATH: process.env['PATH'] ?? '',
  KEY: 'a canary=\nü😀',
  EMPTY: '',
  LONG: `canary ${'x'.repeat(50_000)}`,
};

async function taken(environment: Record<string, string>) {
  const script = `
    const { takeEnvironment, environmentWarnings } = await import('${module}');
    const copy = takeEnvironment();
    const shown = (await import('node:fs')).readFileSync('/proc/self/environ', 'utf8');
    console.log(JSON.stringify({ copy, kept: process.env, shown, warnings: environmentWarnings(copy) }));`;
  const words = ['--import', 'tsx', '--input-type=module', '--eval', script];
  const { stdout } = await execa(process.execPath, words, { env: environment, extendEnv: false });
  return JSON.parse(stdout) as { copy: object; kept: object; shown: string; warnings: readonly string[] };
}

describe('the environment of the server', () => {
  it('is kept whole, but for the token, and shown to nobody', async () => {
    const { copy, kept, shown, warnings } = await taken({ ...OTHERS, GAUNTLET_TOKEN: TOKEN });
    expect(copy).toEqual({ ...OTHERS, GAUNTLET_TOKEN: TOKEN });
    expect(kept).toEqual(OTHERS);
    expect(shown).not.toMatch(/canary|[^\0]/);
    expect(warnings).toEqual([]);
  });

  it('may be empty', async () => {
    expect(await taken({})).toMatchObject({ copy: {}, kept: {}, warnings: [] });
  });
});
