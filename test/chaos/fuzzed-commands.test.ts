/**
 * Scripts of every shape are judged, and those that pass as reading are run: none leaves anything behind.
 *
 * `GAUNTLET_FUZZ_SEED` repeats a run, `GAUNTLET_FUZZ_SCRIPTS` and `GAUNTLET_FUZZ_MINUTES` bound it.
 */
import { expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { bareBash, canContain } from './fuzz/bare-bash.ts';
import { runCampaign } from './fuzz/campaign.ts';
import { scriptSource } from './fuzz/script-source.ts';

const seed = numberFrom('GAUNTLET_FUZZ_SEED') ?? Date.now() % 1_000_000;
const count = numberFrom('GAUNTLET_FUZZ_SCRIPTS') ?? 1_000_000;
const maxMs = (numberFrom('GAUNTLET_FUZZ_MINUTES') ?? 60) * 60_000;

it('no generated script that passes as reading leaves anything behind', { timeout: maxMs + 120_000 }, async () => {
  const isContained = canContain();
  const until = performance.now() + maxMs;
  const run = await runCampaign(scriptSource(seed, isContained), bareBash(temporaryFolder(), isContained), {
    count,
    until,
  });

  const { judged, allowed, executed, cutOff, judgingMs, runningMs, findings } = run;
  console.log(
    `seed ${seed}: ${judged} scripts judged in ${seconds(judgingMs)} s, ${allowed} different ones allowed, ` +
      `${executed} run in ${seconds(runningMs)} s, ${cutOff.length} cut off, ${findings.length} findings`,
  );
  expect(findings).toEqual([]);
  expect(judged).toBe(count);
  expect(executed).toBeGreaterThan(count / 100);
});

function numberFrom(name: string): number | undefined {
  const text = process.env[name];
  return text === undefined ? undefined : Number(text);
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1_000).toFixed(0);
}
