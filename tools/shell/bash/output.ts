/** What Bash hands back, and how it is worded for the model. */
import type { ToolResultBlock } from '../../../src/wire/blocks.ts';
import { outputText } from '../../../src/process/output-text.ts';
import type { OutputStream } from '../../../src/process/process-host.ts';
import type { OutputEnd } from '../../../src/process/bounded-output.ts';

/** What is new of a running command. */
export interface BashProgress {
  readonly type: 'bash';
  readonly stream: OutputStream;
  readonly text: string;
}

/** What became of a command. Failure is thrown and not here. */
export type BashOutput =
  | {
      readonly type: 'finished';
      readonly output: OutputEnd;
      readonly exitCode: number;
      /** Sentences after the output: what the exit code says, where the next command starts. */
      readonly notes: readonly string[];
    }
  | { readonly type: 'background'; readonly taskId: string; readonly outputPath: string };

/** The text the model is sent. */
export function bashText(result: BashOutput): string {
  if (result.type === 'background') {
    return (
      `The command runs in the background as task ${result.taskId}. ` +
      `TaskOutput shows what is new, TaskStop ends it. Its whole output is written to: ${result.outputPath}`
    );
  }
  const text = outputText(result.output);
  return [text === '' ? '(no output)' : text, ...result.notes].join('\n');
}

/** What hook scripts that others wrote look for; both streams stand in `stdout`, in the order they came. */
export function bashHookResponse(result: BashOutput): Readonly<Record<string, unknown>> {
  const streams = { stderr: '', interrupted: false, isImage: false };
  if (result.type === 'background') return { stdout: '', ...streams, backgroundTaskId: result.taskId };
  return { stdout: outputText(result.output), ...streams, exitCode: result.exitCode };
}

/** The block the model is sent. */
export function bashResult(result: BashOutput, toolUseId: string): ToolResultBlock {
  return { type: 'tool_result', tool_use_id: toolUseId, content: bashText(result) };
}
