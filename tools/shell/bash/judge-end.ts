/** Whether a command failed, and in which words. */
import type { SpilledText } from '../../../src/contract/blocks.ts';
import { GauntletError } from '../../../src/contract/errors.ts';
import { outputText } from '../../../src/process/output-text.ts';
import type { CommandEnd } from '../../../src/process/run-command.ts';
import { exitAnswer } from './exit-codes.ts';

/**
 * Judge how a command ended.
 *
 * @returns What a non-zero exit code says, where it is an answer and not a failure.
 * @throws {GauntletError} `tool_failed`, `timeout`, `output_limit` or `cancelled`, with the output so far.
 */
export function judgeEnd(command: string, end: CommandEnd, timeoutMs: number): string | undefined {
  const fail = (code: 'tool_failed' | 'timeout' | 'output_limit' | 'cancelled', cause: string) => {
    const text = [cause, outputText(end.output)].filter(Boolean).join('\n');
    throw new GauntletError(code, text, { details: { spilled: wholeOutput(end) } });
  };
  switch (end.stoppedBy) {
    case 'timeout':
      return fail(
        'timeout',
        `The command was ended after ${timeoutMs} ms. Give it a longer timeout, or run it in the background`,
      );
    case 'output_limit':
      return fail(
        'output_limit',
        `The command was ended: it wrote more than ${end.output.totalChars} characters. Let it write less`,
      );
    case 'signal':
      return fail('cancelled', 'The command was cancelled');
    case undefined:
  }
  if (end.code === null) return fail('tool_failed', `The command was ended by signal ${end.signal ?? 'unknown'}`);
  if (end.code === 0) return undefined;
  const answer = exitAnswer(command, end.code);
  return answer === undefined ? fail('tool_failed', `Exit code ${end.code}`) : `Exit code ${end.code}: ${answer}`;
}

/** Where the whole output is, when it was too long to be held. */
export function wholeOutput({ output }: CommandEnd): SpilledText | undefined {
  return output.path === undefined || output.omittedChars === 0
    ? undefined
    : { path: output.path, chars: output.totalChars };
}
