/**
 * Sends a call's progress: that of its tool, and a status while its tool sends none.
 */
import { isPlainData } from '../../base/json.ts';
import type { Tool, ToolProgress } from '../../tool/tool.ts';
import { atTurnEnd } from '../../log/turn-end.ts';
import type { Call } from './turn.ts';
import type { SessionCore } from '../session-core.ts';
import { drawProgress } from './drawn.ts';

/** Silence of a running call after which viewers are sent a status; each further interval is twice as long. */
const SILENCE_MS = 2_000;
const MAX_SILENCE_MS = 60_000;

/** Receiver of one call's progress. */
export interface CallProgress {
  /** Send one piece; dropped if JSON cannot hold it or the call is no longer executing. */
  tell(progress: ToolProgress): void;
  /** Start the timer, when the tool starts to run. */
  begin(): void;
  /** Stop the timer, when the call is over. */
  end(): void;
}

/** Create the receiver. `end` must be called to stop its timer. */
export function callProgress(core: SessionCore, call: Call, tool: Tool): CallProgress {
  let count = 0;
  let hasEnded = false;
  let begunMs = 0;
  let silence: NodeJS.Timeout | undefined;

  function send(data: ToolProgress['data'], display: ReturnType<typeof drawProgress>): void {
    if (call.scheduled?.state !== 'executing') return;
    const { toolUseId: tool_use_id, parentId: parent_tool_use_id } = call;
    core.log.tell({ type: 'progress', tool_use_id, parent_tool_use_id, n: ++count, data, display });
  }

  /** Each interval is twice as long as the one before, so that a call that runs for a day does not fill the log. */
  function waitForSilence(ms: number): void {
    clearTimeout(silence);
    silence = setTimeout(() => {
      sayThatItRuns();
      waitForSilence(Math.min(2 * ms, MAX_SILENCE_MS));
    }, ms).unref();
  }

  function sayThatItRuns(): void {
    // A call whose question is open visibly waits.
    if (core.questions.hasOpenQuestion(call.toolUseId)) return;
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
