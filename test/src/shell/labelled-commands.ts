/** The labelled commands beside this file: one a line, `⏎` for a line end, `## ` before each class. */
import { readFileSync } from 'node:fs';

/** Commands of one file by class. @param name `read-only`, `not-read-only` or `denied`. */
export function labelledCommands(
  name: 'read-only' | 'not-read-only' | 'denied',
): ReadonlyMap<string, readonly string[]> {
  const classes = new Map<string, string[]>();
  let current: string[] = [];
  for (const line of readFileSync(new URL(`./${name}.txt`, import.meta.url), 'utf8').split('\n')) {
    if (line.startsWith('## ')) classes.set(line.slice(3), (current = []));
    else if (line !== '') current.push(line.replaceAll('⏎', '\n'));
  }
  return classes;
}
