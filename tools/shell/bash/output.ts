/** Output types of Bash, and their format for the model. */
import type { ToolResultBlock } from '../../../src/wire/blocks.ts';
import { outputText } from '../../../src/process/output-text.ts';
import type { OutputStream } from '../../../src/process/process-host.ts';
import type { OutputEnd } from '../../../src/process/bounded-output.ts';

/** New output of a running command. */
export interface BashProgress {
  readonly type: 'bash';
  readonly stream: OutputStream;
  readonly text: string;
}

/** Result of a command. Failures are thrown instead. */
export type BashOutput =
  | {
      readonly type: 'finished';
      readonly output: OutputEnd;
      readonly exitCode: number;
      /** Sentences after the output: the meaning of the exit code, the next working directory. */
      readonly notes: readonly string[];
    }
  | { readonly type: 'background'; readonly taskId: string; readonly outputPath: string };

/** Format the result for the model. */
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

/** Format the result for hook scripts written for other products; `stdout` contains both streams, in order. */
export function bashHookResponse(result: BashOutput): Readonly<Record<string, unknown>> {
  const streams = { stderr: '', interrupted: false, isImage: false };
  if (result.type === 'background') return { stdout: '', ...streams, backgroundTaskId: result.taskId };
  return { stdout: outputText(result.output), ...streams, exitCode: result.exitCode };
}

/** Create the result block for the model. */
export function bashResult(result: BashOutput, toolUseId: string): ToolResultBlock {
  return { type: 'tool_result', tool_use_id: toolUseId, content: bashText(result) };
}
