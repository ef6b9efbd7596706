/**
 * One frame read back from the log by its number.
 */
import type { Frame, Seq } from '../../contract/frames.ts';
import type { SessionCore } from '../session-core.ts';

/** The frame with that `seq`; undefined when retention took it. */
export async function loggedFrame(core: SessionCore, seq: Seq): Promise<Frame | undefined> {
  const { signal } = new AbortController();
  for await (const page of core.services.log.read(core.id, seq - 1, { live: false, signal })) {
    const [first] = page;
    return first?.seq === seq ? first.frame : undefined;
  }
  return undefined;
}
