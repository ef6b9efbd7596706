/**
 * Reviewed edits with `sed -i`: the question shows the diff of one file, and exactly that diff is written.
 *
 * The installed sed computes it, as a filter of the current text: it opens no file and runs nothing.
 */
import type { Display } from '../../../src/wire/display.ts';
import type { LocatedPath } from '../../../src/tool/located-path.ts';
import type { CallPreview, ToolUseContext } from '../../../src/tool/tool.ts';
import { showText } from '../../../src/base/hidden-characters.ts';
import {
  planShownEdit,
  shownEditKey,
  writeShownEdit,
  type ShownEdit,
  MAX_SHOWN_FILE_BYTES,
} from '../../../src/files/shown-edit.ts';
import { countChanges } from '../../../src/files/text-diff.ts';
import { sedEdit } from '../../../src/shell/sed-edit.ts';
import type { ShellLine } from '../../../src/shell/shell-line.ts';
import { runProgram } from '../../../src/process/run-program.ts';
import type { ShellToolServices } from '../services.ts';
import type { BashOutput } from './output.ts';

/** Time for sed to prepare the diff of an edit, which delays the question; after it no diff is shown. */
const PREVIEW_MS = 2_000;

/** The field of an input that holds what a person was shown. Only the server sets it, once that person said yes. */
export const SHOWN_EDIT = '_simulatedSedEdit';

/** Preview the effect of a command on its file. @returns undefined if it is not certain, or too large to show. */
export async function previewSedEdit(
  services: ShellToolServices,
  line: ShellLine,
  context: ToolUseContext,
): Promise<CallPreview | undefined> {
  const edit = sedEdit(line);
  const located = edit && editedFile(line, edit.file, context);
  if (!located) return undefined;
  const change = (text: string) => filtered(services, edit.filter, text, context);
  const shown = await planShownEdit({ located, spelled: edit.file }, change);
  return shown && { display: drawEdit(line.command, shown), key: shownEditKey(shown), fields: { [SHOWN_EDIT]: shown } };
}

/** Return the reviewed and allowed edit in an input, if any. */
export function shownSedEdit(input: object): ShownEdit | undefined {
  // It cannot come from a client: the field is removed from external input.
  return (input as { readonly [SHOWN_EDIT]?: ShownEdit })[SHOWN_EDIT];
}

/** Write the reviewed edit. @throws {GauntletError} As `writeShownEdit`. */
export async function writeShownSedEdit(
  { history }: ShellToolServices,
  edit: ShownEdit,
  context: ToolUseContext,
): Promise<BashOutput> {
  await writeShownEdit(history, edit, 'Bash', context);
  const output = { head: '', tail: '', omittedChars: 0, totalChars: 0, totalBytes: 0 };
  return { type: 'finished', output, exitCode: 0, notes: [] };
}

/** Return the file as located by the gate, only if it is inside and no other check requires a person. */
function editedFile({ verdict }: ShellLine, file: string, context: ToolUseContext): LocatedPath | undefined {
  const at = verdict.paths.findIndex(({ path, access }) => path === file && access === 'write');
  const located = context.located?.[at];
  // sed would replace a link by a file, and files hidden by rules must not be shown.
  const isPlain = located?.isInside && located.real === located.spelled && !context.isReadDenied(located.real);
  return isPlain && located.refusal === undefined && located.safety === undefined ? located : undefined;
}

async function filtered(
  { processHost }: ShellToolServices,
  filter: readonly string[],
  text: string,
  { session, signal }: ToolUseContext,
): Promise<string | undefined> {
  const { code, stdout, stderr, stoppedBy } = await runProgram(processHost, {
    file: 'sed',
    args: filter,
    cwd: session.cwd,
    env: {},
    input: text,
    timeoutMs: PREVIEW_MS,
    outputBytes: MAX_SHOWN_FILE_BYTES,
    signal,
  });
  // Invalid UTF-8 was replaced on the way here, so such a text is incomplete.
  const isWhole = code === 0 && stderr === '' && stoppedBy === undefined && !/[\0\ufffd]/.test(stdout);
  return isWhole ? stdout : undefined;
}

function drawEdit(command: string, { spelled, hunks }: ShownEdit): Display {
  const { added, removed } = countChanges(hunks);
  const diff = hunks.length === 0 ? [] : [{ kind: 'diff', path: spelled, hunks } as const];
  return {
    title: `Edit ${showText(spelled)} with sed`,
    subtitle: hunks.length === 0 ? 'Changes nothing' : `+${added} -${removed}`,
    tone: 'warning',
    blocks: [{ kind: 'code', text: showText(command), language: 'bash' }, ...diff],
  };
}
