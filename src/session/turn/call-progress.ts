/**
 * A call's progress on its way out: what its tool says, and that it still runs while its tool says nothing.
 */
import { isPlainData } from '../../base/json.ts';
import type { Tool, ToolProgress } from '../../tool/tool.ts';
import { atTurnEnd } from '../../log/turn-end.ts';
import type { CallRecord } from '../call-record.ts';
import type { SessionCore } from '../session-core.ts';
import { drawProgress } from './drawn.ts';

/** After so much silence of a running call its viewers are told that it still runs; then after twice as much, and so on. */
const SILENCE_MS = 2_000;
const MAX_SILENCE_MS = 60_000;

/** Where the progress of one call goes. */
export interface CallProgress {
  /** Send one piece; dropped where JSON cannot hold it or the call does not execute any more. */
  tell(progress: ToolProgress): void;
  /** The tool runs from now on. */
  begin(): void;
  /** The call is over. */
  end(): void;
}

/** Make it. `end` must be called, or its timer goes on. */
export function callProgress(core: SessionCore, record: CallRecord, tool: Tool): CallProgress {
  let count = 0;
  let hasEnded = false;
  let begunMs = 0;
  let silence: NodeJS.Timeout | undefined;

  function send(data: ToolProgress['data'], display: ReturnType<typeof drawProgress>): void {
    if (record.scheduled?.state !== 'executing') return;
    const { toolUseId: tool_use_id, parentId: parent_tool_use_id } = record;
    core.log.tell({ type: 'progress', tool_use_id, parent_tool_use_id, n: ++count, data, display });
  }

  /** Each time of silence is twice as long as the one before: what runs for a day fills no log. */
  function waitForSilence(ms: number): void {
    clearTimeout(silence);
    silence = setTimeout(() => {
      sayThatItRuns();
      waitForSilence(Math.min(2 * ms, MAX_SILENCE_MS));
    }, ms).unref();
  }

  function sayThatItRuns(): void {
    // Whoever is asked about an inner call knows that it waits.
    if (core.questions.hasOpenQuestion(record.toolUseId)) return;
    const elapsed_ms = Math.round(performance.now() - begunMs);
    const subtitle = `for ${Math.round(elapsed_ms / 1_000)} s`;
    const data = { type: 'status', message: 'Still running', elapsed_ms };
    send(data, { title: 'Still running', subtitle, blocks: [] });
  }

  return {
    tell({ data }) {
      if (!isPlainData(data)) return;
      if (silence) waitForSilence(SILENCE_MS);
      const drawn = drawProgress(tool, { data });
      send(data, isPlainData(drawn) ? drawn : undefined);
    },
    begin() {
      if (hasEnded) return;
      begunMs = performance.now();
      // Most calls end within the turn of the event loop in which they begin: those need no timer.
      atTurnEnd(() => {
        if (!hasEnded && silence === undefined) waitForSilence(SILENCE_MS);
      });
    },
    end() {
      hasEnded = true;
      clearTimeout(silence);
    },
  };
}
