/** Characters that make a command line look other than it is: no person could judge it by reading. */

/**
 * C0 (line feed and tab excepted), DEL, C1, soft hyphen, bidirectional and zero-width marks, line
 * separators, spaces beyond ASCII, tags, and lone surrogates.
 */
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u00ad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufe00-\ufe0f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]|\p{Cs}/u;

/** The first such character as `U+00A0`, or undefined. */
export function findHiddenCharacter(command: string): string | undefined {
  const found = HIDDEN.exec(command)?.[0].codePointAt(0);
  return found === undefined ? undefined : `U+${found.toString(16).toUpperCase().padStart(4, '0')}`;
}
