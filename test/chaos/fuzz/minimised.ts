/** The shortest script that deletions leave of one that still shows the same. */

/** @param stillShows Is asked some hundred times. */
export async function minimised(script: string, stillShows: (text: string) => Promise<boolean>): Promise<string> {
  let text = script;
  for (let size = Math.ceil(text.length / 2); size >= 1;) {
    let isShorter = false;
    for (let at = 0; at < text.length;) {
      const shorter = text.slice(0, at) + text.slice(at + size);
      if (await stillShows(shorter)) {
        text = shorter;
        isShorter = true;
      } else at += size;
    }
    if (size > 1 || !isShorter) size = size === 1 ? 0 : Math.ceil(size / 2);
  }
  return text;
}
