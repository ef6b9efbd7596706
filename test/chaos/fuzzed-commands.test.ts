/**
 * Scripts of every shape are judged, and those that pass as reading are run, bare and in the jail: none leaves anything
 * behind. Of those that are refused, some are forced through the jail: they do neither.
 *
 * `GAUNTLET_FUZZ_SEED` repeats a run, `GAUNTLET_FUZZ_SCRIPTS` and `GAUNTLET_FUZZ_MINUTES` bound it.
 */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { testProcessHost } from '../helpers/process-host.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { bareBash, canContain } from './fuzz/bare-bash.ts';
import { runCampaign } from './fuzz/campaign.ts';
import { makeDecoys } from './fuzz/decoys.ts';
import { jailedBash } from './fuzz/jailed-bash.ts';
import type { RunScripts } from './fuzz/script-batches.ts';
import { scriptSource } from './fuzz/script-source.ts';

const seed = numberFrom('GAUNTLET_FUZZ_SEED') ?? Date.now() % 1_000_000;
const count = numberFrom('GAUNTLET_FUZZ_SCRIPTS') ?? 1_000_000;
const maxMs = (numberFrom('GAUNTLET_FUZZ_MINUTES') ?? 60) * 60_000;
const host = testProcessHost();

it(
  'no generated script that passes as reading changes anything, nor any at all in the jail',
  async () => {
    const folder = temporaryFolder();
    const isContained = canContain();
    const bare = bareBash(makeDecoys(join(folder, 'bare')), isContained);
    const jailed = await inJail(join(folder, 'jailed'));
    const until = performance.now() + maxMs;
    const run = await runCampaign(
      scriptSource(seed, isContained),
      { bare, ...(jailed && { jailed }) },
      { count, until },
    );

    const { judged, allowed, executed, forced, cutOff, judgingMs, runningMs, findings } = run;
    console.log(
      `seed ${seed}: ${judged} scripts judged in ${seconds(judgingMs)} s, ${allowed} different ones allowed, ` +
        `${executed} of them and ${forced} others run in ${seconds(runningMs)} s, ` +
        `${cutOff.length} cut off, ${findings.length} findings`,
    );
    // A run that is ended before its summary has shown them.
    if (findings.length > 0) console.log(JSON.stringify(findings));
    expect(findings).toEqual([]);
    expect(judged).toBe(count);
    expect(executed).toBeGreaterThan(count / 100);
  },
  maxMs + 300_000,
);

/** @returns undefined where the machine has no jail. */
async function inJail(folder: string): Promise<RunScripts | undefined> {
  const { missing, userId } = await host.jailSupport();
  if (missing !== undefined) return undefined;
  const decoys = makeDecoys(join(folder, 'decoys'), { ...(userId !== undefined && { owner: userId }) });
  return jailedBash(host, decoys, { folder, kind: 'Landlock' }).run;
}

function numberFrom(name: string): number | undefined {
  const text = process.env[name];
  return text === undefined ? undefined : Number(text);
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1_000).toFixed(0);
}
