/** Displays a changed file, for the results of Edit and Write. */
import type { Display, DiffHunk } from '../../src/wire/display.ts';
import { showText } from '../../src/base/hidden-characters.ts';
import { countChanges } from '../../src/files/text-diff.ts';

/** Display a change. @param what First word of the title: `Created`, `Edited`. */
export function drawChange(
  what: string,
  { path, hunks }: { readonly path: string; readonly hunks: readonly DiffHunk[] },
  style: 'condensed' | undefined,
): Display {
  const { added, removed } = countChanges(hunks);
  return {
    title: `${what} ${showText(path)}`,
    subtitle: `+${added} -${removed}`,
    tone: 'success',
    blocks: style === 'condensed' ? [] : [{ kind: 'diff', path, hunks }],
  };
}
