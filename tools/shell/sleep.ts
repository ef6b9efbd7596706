/** Sleep: waits, and ends immediately when cancelled. */
import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod';
import { GauntletError } from '../../src/base/errors.ts';
import { buildTool } from '../../src/tool/build-tool.ts';

/** The longest wait of one call, an hour: what takes longer is better asked about again. */
const MAX_SLEEP_MS = 60 * 60_000;

const SleepInput = z.strictObject({
  duration_ms: z.int().min(0).max(MAX_SLEEP_MS).describe(`How long to wait, in milliseconds; at most ${MAX_SLEEP_MS}`),
});

const PROMPT = `Waits for a given time without holding a process or a shell.

- Use it to wait for something that needs time, rather than \`sleep\` with Bash.
- It ends at once when it is cancelled or the person interrupts.
- To wait for a background task, use TaskOutput: it answers when the task ends.`;

/** Create Sleep. */
export function sleepTool() {
  return buildTool({
    name: 'Sleep',
    searchHint: 'wait for some time',
    shouldDefer: true,
    touchesOnlySession: () => true,
    inputSchema: SleepInput,
    maxResultSizeChars: 1_000,
    prompt: () => PROMPT,
    description: (input) => `Wait ${input.duration_ms} ms`,
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    interruptBehavior: () => 'cancel',
    async call(input, context) {
      try {
        await delay(input.duration_ms, undefined, { signal: context.signal });
      } catch (cause) {
        throw new GauntletError('cancelled', 'The wait was cancelled', { cause });
      }
      return { data: { sleptMs: input.duration_ms } };
    },
    mapToolResultToToolResultBlockParam: ({ sleptMs }: { sleptMs: number }, toolUseId) => ({
      type: 'tool_result',
      tool_use_id: toolUseId,
      content: `Waited ${sleptMs} ms`,
    }),
    getActivityDescription: () => 'Waiting',
    renderToolUseMessage: (input) => ({ title: 'Sleep', subtitle: `${input.duration_ms ?? '…'} ms`, blocks: [] }),
    renderToolResultMessage: ({ sleptMs }: { sleptMs: number }) => ({
      title: `Waited ${sleptMs} ms`,
      tone: 'success',
      blocks: [],
    }),
  });
}
