/** Bash, drawn as data. */
import type { Display, DisplayBlock } from '../../../src/wire/display.ts';
import type { ToolProgress } from '../../../src/tool/tool.ts';
import { showText, showValue } from '../../../src/base/hidden-characters.ts';
import { shownHead } from '../../../src/files/shown-head.ts';
import { type BashOutput, type BashProgress, bashText } from './output.ts';
import type { BashArguments } from './schema.ts';

/** Characters of a command that make a title. */
const TITLE_CHARS = 80;

/** What will run; the input may still be streaming in. */
export function renderBash(input: Partial<BashArguments>): Display {
  const command = showValue(input.command, '…');
  return {
    title: input.run_in_background === true ? 'Bash, in the background' : 'Bash',
    ...(typeof input.description === 'string' ? { subtitle: showText(input.description) } : {}),
    blocks: [{ kind: 'code', text: command, language: 'bash' }],
    group: { key: 'bash', title: 'Commands' },
  };
}

/** What is new of it. */
export function renderBashProgress(progress: readonly ToolProgress<BashProgress>[]): Display {
  return { title: 'Running', blocks: code(progress.map(({ data }) => data.text).join('')) };
}

/** How it ended well. @param drawnChars Most characters of output to draw. */
export function renderBashResult(result: BashOutput, style: 'condensed' | undefined, drawnChars: number): Display {
  if (result.type === 'background') {
    return { title: `Runs in the background as ${result.taskId}`, tone: 'info', blocks: [] };
  }
  const title = result.exitCode === 0 ? 'Done' : `Done, exit code ${result.exitCode}`;
  const subtitle = result.notes.map(showText).join('; ');
  const blocks = style === 'condensed' ? [] : code(shownHead(bashText(result), drawnChars));
  return { title, ...(subtitle === '' ? {} : { subtitle }), tone: 'success', blocks };
}

/** A command that was not allowed. */
export function renderBashRejected(input: Partial<BashArguments>, message: string): Display {
  return { title: 'Not run', tone: 'warning', blocks: [...renderBash(input).blocks, { kind: 'text', text: message }] };
}

/** A command that failed. */
export function renderBashError(message: string, input: Partial<BashArguments>): Display {
  return { title: `Failed: ${commandTitle(input.command)}`, tone: 'danger', blocks: [{ kind: 'text', text: message }] };
}

/** A command in one line. */
export function commandTitle(command: unknown): string {
  const [line = '', ...more] = showValue(command, 'a command').split('\n');
  return more.length === 0 && line.length <= TITLE_CHARS ? line : `${line.slice(0, TITLE_CHARS)}…`;
}

function code(text: string): DisplayBlock[] {
  return text === '' ? [] : [{ kind: 'code', text }];
}
