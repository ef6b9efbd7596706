/** A changed file, drawn as data: what Edit and Write show of their results. */
import type { Display, DiffHunk } from '../../src/wire/display.ts';
import { showText } from '../../src/base/hidden-characters.ts';
import { countChanges } from '../../src/files/text-diff.ts';

/** Draw what changed. @param what Begins the title: `Created`, `Edited`. */
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
