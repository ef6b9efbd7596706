/** One run of the fuzzer: scripts are judged, those allowed are run in bare bash, what they leave behind is a bug. */
import { classifyCommand } from '../../../src/permissions/shell/classify.ts';
import { type BareBash } from './bare-bash.ts';
import { minimised } from './minimised.ts';
import { mayRun, type ScriptSource } from './script-source.ts';

/** A script that is allowed and acts. */
export interface Finding {
  /** The script's number in its seed. */
  readonly number: number;
  readonly script: string;
  readonly shortest: string;
  /** It acted when it was run, or only would have in a branch that was not taken. */
  readonly kind: 'acted' | 'holds code that acts';
}

/** What a run came to. */
export interface Campaign {
  readonly judged: number;
  readonly allowed: number;
  readonly executed: number;
  readonly cutOff: readonly string[];
  readonly findings: readonly Finding[];
  readonly judgingMs: number;
  readonly runningMs: number;
}

/** Scripts that share a process. */
const BATCH = 250;

/** Batches that wait to be run; judging waits for more. */
const MAX_WAITING = 4;

/** Findings after which a run ends: the rest are most likely the same bug. */
const MAX_FINDINGS = 20;

/** @param until No script is judged after this moment, as `performance.now()` counts. */
export async function runCampaign(
  source: ScriptSource,
  bash: BareBash,
  { count, until }: { readonly count: number; readonly until: number },
): Promise<Campaign> {
  const seen = new Set<string>();
  const findings: Finding[] = [];
  const cutOff: string[] = [];
  let [judged, executed, judgingMs, runningMs, waiting] = [0, 0, 0, 0, 0];
  let batch = new Map<string, number>();
  let running: Promise<void> = Promise.resolve();

  const runBatch = async (scripts: ReadonlyMap<string, number>): Promise<void> => {
    const start = performance.now();
    const ended = await bash.run([...scripts.keys()]);
    executed += scripts.size;
    cutOff.push(...ended.cutOff);
    for (const script of ended.acting) {
      const shortest = await minimised(
        script,
        async (text) => isAllowed(text) && (await bash.run([text])).acting.length > 0,
      );
      findings.push({ number: scripts.get(script) ?? -1, script, shortest, kind: 'acted' });
    }
    runningMs += performance.now() - start;
    waiting--;
  };

  const send = async (): Promise<void> => {
    const scripts = batch;
    batch = new Map();
    waiting++;
    running = running.then(() => runBatch(scripts));
    if (waiting > MAX_WAITING) await running;
    // The process that runs them is served between two batches.
    else await new Promise((resolve) => setImmediate(resolve));
  };

  for (; judged < count && performance.now() < until && findings.length < MAX_FINDINGS; judged++) {
    const start = performance.now();
    const { text, act } = source(judged);
    if (isAllowed(text) && !seen.has(text)) {
      seen.add(text);
      if (act === 'code') findings.push({ number: judged, script: text, shortest: text, kind: 'holds code that acts' });
      if (act !== 'none' && mayRun(text)) batch.set(text, judged);
    }
    judgingMs += performance.now() - start;
    if (batch.size >= BATCH) await send();
  }
  await send();
  await running;
  return { judged, allowed: seen.size, executed, cutOff, findings, judgingMs, runningMs };
}

function isAllowed(text: string): boolean {
  return classifyCommand(text).isReadOnly;
}
