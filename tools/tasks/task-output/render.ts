/** TaskOutput, worded for the model and drawn as data. */
import type { Display } from '../../../src/wire/display.ts';
import type { ToolProgress } from '../../../src/tool/tool.ts';
import { showText, showValue } from '../../../src/base/hidden-characters.ts';
import { shownHead } from '../../../src/files/shown-head.ts';
import { outputText } from '../../../src/process/output-text.ts';
import type { TaskReading } from '../../../src/tool/task.ts';
import type { TaskOutputArguments } from './schema.ts';

/** What is new of a task that is waited for. */
export interface TaskProgress {
  readonly type: 'task';
  readonly task_id: string;
  readonly text: string;
}

/** The text the model is sent. */
export function taskText(reading: TaskReading): string {
  const { id, state, exitCode, note, news } = reading;
  const outputPath = state === 'running' ? undefined : reading.outputPath;
  const text = outputText({ ...news, ...(outputPath === undefined ? {} : { path: outputPath }) });
  const facts = [
    `task_id: ${id}`,
    `status: ${state}`,
    exitCode === undefined ? undefined : `exit_code: ${exitCode}`,
    note === undefined ? undefined : `note: ${note}`,
    outputPath === undefined ? undefined : `whole_output: ${outputPath}`,
    text === '' ? '(no new output)' : `output:\n${text}`,
  ];
  return facts.filter((fact) => fact !== undefined).join('\n');
}

/** What is asked; the input may still be streaming in. */
export function renderTaskOutput(input: Partial<TaskOutputArguments>): Display {
  return { title: `Output of task ${showValue(input.task_id, '…')}`, blocks: [] };
}

/** What a task that is waited for has written since. */
export function renderTaskProgress(progress: readonly ToolProgress<TaskProgress>[]): Display {
  const text = progress.map(({ data }) => data.text).join('');
  return { title: 'Waiting', blocks: text === '' ? [] : [{ kind: 'code', text }] };
}

/** What came. @param drawnChars Most characters of output to draw. */
export function renderReading(reading: TaskReading, style: 'condensed' | undefined, drawnChars: number): Display {
  const text = shownHead(outputText(reading.news), drawnChars);
  return {
    title: `Task ${reading.id}: ${reading.state}`,
    subtitle: showText(reading.description),
    tone: reading.state === 'failed' ? 'danger' : 'info',
    blocks: style === 'condensed' || text === '' ? [] : [{ kind: 'code', text }],
  };
}
