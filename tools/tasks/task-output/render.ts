/** TaskOutput, worded for the model and drawn as data. */
import type { Display } from '../../../src/contract/display.ts';
import { showText, showValue } from '../../../src/files/hidden-characters.ts';
import { shownHead } from '../../../src/files/shown-head.ts';
import { outputText } from '../../../src/process/output-text.ts';
import type { TaskReading } from '../../../src/work/background-tasks.ts';
import type { TaskOutputArguments } from './schema.ts';

/** The text the model is sent. */
export function taskText(reading: TaskReading): string {
  const { id, status, exitCode, note, outputPath, news } = reading;
  const text = outputText({ ...news, ...(outputPath === undefined ? {} : { path: outputPath }) });
  const facts = [
    `task_id: ${id}`,
    `status: ${status}`,
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

/** What came. @param drawnChars Most characters of output to draw. */
export function renderReading(reading: TaskReading, style: 'condensed' | undefined, drawnChars: number): Display {
  const text = shownHead(outputText(reading.news), drawnChars);
  return {
    title: `Task ${reading.id}: ${reading.status}`,
    subtitle: showText(reading.description),
    tone: reading.status === 'failed' ? 'danger' : 'info',
    blocks: style === 'condensed' || text === '' ? [] : [{ kind: 'code', text }],
  };
}
