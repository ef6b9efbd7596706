/**
 * The output of a task whose server is gone, as its file keeps it.
 */
import type { Limits } from '../../config/limits.ts';
import { cutText, type WindowedText } from '../base/cut-text.ts';
import { errorMessage } from '../base/errors.ts';
import type { TaskReading, TaskView } from '../tool/task.ts';

/** Reads a part of a file, by UTF-16 offset. @throws {GauntletError} `tool_failed` where there is none. */
export type ReadFileRange = (
  path: string,
  range: { readonly offsetChars: number; readonly limitChars: number },
) => Promise<{ readonly text: string; readonly totalChars: number }>;

const NOTHING: WindowedText = { head: '', tail: '', omittedChars: 0, totalChars: 0 };

/** Read the beginning and the end of a task's output. @returns With a note that says why where it cannot be read. */
export async function keptOutput(
  { outputPath, note }: TaskView,
  readFile: ReadFileRange,
  { taskNewsHeadChars: headChars, taskNewsTailChars: tailChars }: Pick<Limits, `taskNews${'Head' | 'Tail'}Chars`>,
): Promise<Pick<TaskReading, 'news' | 'note'>> {
  if (outputPath === undefined) return { news: NOTHING };
  try {
    const { text, totalChars } = await readFile(outputPath, { offsetChars: 0, limitChars: headChars + tailChars });
    if (totalChars <= text.length) return { news: { head: text, tail: '', omittedChars: 0, totalChars } };
    const head = cutText(text, headChars);
    const { text: tail } = await readFile(outputPath, { offsetChars: totalChars - tailChars, limitChars: tailChars });
    return { news: { head, tail, omittedChars: Math.max(0, totalChars - head.length - tail.length), totalChars } };
  } catch (error) {
    const why = `Its output cannot be read: ${errorMessage(error)}`;
    return { news: NOTHING, note: note === undefined ? why : `${note}. ${why}` };
  }
}
