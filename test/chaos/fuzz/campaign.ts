/**
 * One run of the fuzzer: scripts are judged, those allowed are run in bare bash and again in the jail.
 *
 * What an allowed script changes in bare bash is a bug of the judge; what any script changes in the jail, some that
 * were refused among them, is a bug of the jail.
 */
import { ShellLine } from '../../../src/shell/shell-line.ts';
import { minimised } from './minimised.ts';
import type { RunScripts } from './script-batches.ts';
import { mayRun, type ScriptSource } from './script-source.ts';

/** A script that should have changed nothing. */
export interface Finding {
  /** The script's number in its seed. */
  readonly number: number;
  readonly script: string;
  readonly shortest: string;
  /** It was allowed and acted, it was allowed and would act in a branch that was not taken, or the jail let it act. */
  readonly kind: 'acted' | 'holds code that acts' | 'acted in the jail';
}

/** What a run came to. */
export interface Campaign {
  readonly judged: number;
  /** Different ones. */
  readonly allowed: number;
  /** Allowed ones that hold an act: each was run in bare bash, and in the jail. */
  readonly executed: number;
  /** Refused ones that were run in the jail. */
  readonly forced: number;
  readonly cutOff: readonly string[];
  readonly findings: readonly Finding[];
  readonly judgingMs: number;
  readonly runningMs: number;
}

/** Where scripts are run. */
export interface Places {
  readonly bare: RunScripts;
  /** Absent where the machine has none. */
  readonly jailed?: RunScripts;
}

/** How long a run is. */
export interface Bounds {
  readonly count: number;
  /** No script is judged after this moment, as `performance.now()` counts. */
  readonly until: number;
}

/** Scripts that share a process. */
const BATCH = 250;

/** Of so many refused scripts that hold an act one is forced through the jail. */
const FORCED_SHARE = 25;

/** Batches that wait to be run; judging waits for more. */
const MAX_WAITING = 4;

/** Findings after which a run ends: the rest are most likely the same bug. */
const MAX_FINDINGS = 20;

/** Judge and run scripts until one of the bounds is reached. */
export async function runCampaign(source: ScriptSource, { bare, jailed }: Places, bounds: Bounds): Promise<Campaign> {
  const seen = new Set<string>();
  const findings: Finding[] = [];
  const cutOff: string[] = [];
  const batches = { allowed: new Map<string, number>(), forced: new Map<string, number>() };
  let [judged, executed, forced, judgingMs, runningMs, waiting] = [0, 0, 0, 0, 0, 0];
  let running: Promise<void> = Promise.resolve();

  const runIn = async (run: RunScripts, scripts: ReadonlyMap<string, number>, kind: Finding['kind']): Promise<void> => {
    const ended = await run([...scripts.keys()]);
    cutOff.push(...ended.cutOff);
    for (const script of ended.acting) {
      const stillActs = async (text: string): Promise<boolean> =>
        (kind !== 'acted' || isAllowed(text)) && (await run([text])).acting.length > 0;
      const shortest = await minimised(script, stillActs);
      findings.push({ number: scripts.get(script) ?? -1, script, shortest, kind });
    }
  };

  const runBatch = async (kind: keyof typeof batches, scripts: ReadonlyMap<string, number>): Promise<void> => {
    const start = performance.now();
    if (kind === 'allowed') await runIn(bare, scripts, 'acted');
    if (jailed) await runIn(jailed, scripts, 'acted in the jail');
    if (kind === 'allowed') executed += scripts.size;
    else forced += scripts.size;
    runningMs += performance.now() - start;
    waiting--;
  };

  const send = async (kind: keyof typeof batches): Promise<void> => {
    const scripts = batches[kind];
    if (scripts.size === 0) return;
    batches[kind] = new Map();
    waiting++;
    running = running.then(() => runBatch(kind, scripts));
    if (waiting > MAX_WAITING) await running;
    // The process that runs them is served between two batches.
    else await new Promise((resolve) => setImmediate(resolve));
  };

  const { count, until } = bounds;
  for (; judged < count && performance.now() < until && findings.length < MAX_FINDINGS; judged++) {
    const start = performance.now();
    const { text, act } = source(judged);
    const mayBeRun = act !== 'none' && mayRun(text);
    if (!isAllowed(text)) {
      if (jailed && mayBeRun && judged % FORCED_SHARE === 0) batches.forced.set(text, judged);
    } else if (!seen.has(text)) {
      seen.add(text);
      if (act === 'code') findings.push({ number: judged, script: text, shortest: text, kind: 'holds code that acts' });
      if (mayBeRun) batches.allowed.set(text, judged);
    }
    judgingMs += performance.now() - start;
    for (const kind of ['allowed', 'forced'] as const) if (batches[kind].size >= BATCH) await send(kind);
  }
  await send('allowed');
  await send('forced');
  await running;
  return { judged, allowed: seen.size, executed, forced, cutOff, findings, judgingMs, runningMs };
}

function isAllowed(text: string): boolean {
  return new ShellLine(text).verdict.isReadOnly;
}
