/** A stand-in for `pwsh`: records its arguments, decodes the command, and lets bash run it. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from './temporary-folder.ts';

/** Install it in a folder of its own. */
export function standInPwsh(): { readonly folder: string; recorded(): readonly string[] } {
  const folder = temporaryFolder();
  const record = join(folder, 'arguments');
  const script = `#!/bin/bash
printf '%s\\n' "$@" > '${record}'
exec bash -c "$(printf %s "\${!#}" | base64 -d | iconv -f UTF-16LE -t UTF-8)"
`;
  writeFileSync(join(folder, 'pwsh'), script);
  chmodSync(join(folder, 'pwsh'), 0o755);
  return { folder, recorded: () => readFileSync(record, 'utf8').trimEnd().split('\n') };
}
