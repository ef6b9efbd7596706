/** What "always allow" would add for a command line. */

/** Prefix specs (`git commit:*`) that together cover the command; empty where none is safe. */
export function suggestShellSpecs(_command: string): readonly string[] {
  return [];
}
