/**
 * A shell that was started ahead and waits for its script, once.
 *
 * Descriptor 3 brings a line with two lengths in bytes and then two strings: a prologue that sets
 * folder and environment, and the script. It is closed before either runs, and
 * the script's stdin is the null device, so that a script cannot read what is meant for the shell.
 */
import type { SpawnMessage } from './messages.ts';

// `read -N` takes a block at a time, where a line or a delimiter would be read byte by byte; in the
// C locale it counts bytes. Evals on the first line keep the script's own line numbers.
const READ_STRING = (name: string) => `IFS= read -r -N "$${name}" -u 3 ${name}`;
const PROGRAM =
  'LC_ALL=C;read -r -u 3 _gauntlet_prologue _gauntlet_script&&' +
  `${READ_STRING('_gauntlet_prologue')}&&${READ_STRING('_gauntlet_script')}||exit;unset LC_ALL;exec 3<&-;` +
  'eval "$_gauntlet_prologue";eval "$_gauntlet_script";eval "$_gauntlet_epilogue"';

/** Program and arguments of a waiting shell. */
export const WAITING_SHELL = { file: 'bash', args: ['--noprofile', '--norc', '-c', PROGRAM] } as const;

/**
 * Make what is written to descriptor 3 so that the shell runs a script.
 *
 * @param limits Options of `ulimit`, which the shell sets for itself first. A lower limit that holds already is as good.
 */
export function shellOrder(spawn: SpawnMessage & { readonly shellScript: string }, limits?: string): Buffer {
  const limit = limits === undefined ? '' : `ulimit ${limits} 2>/dev/null;`;
  const texts = [limit + prologue(spawn), spawn.shellScript === '' ? ':' : spawn.shellScript];
  return Buffer.from(`${texts.map((text) => Buffer.byteLength(text)).join(' ')}\n${texts.join('')}`);
}

function prologue({ cwd, env, cwdFile }: SpawnMessage): string {
  const lines = [
    '_gauntlet_epilogue="exit \\$?"',
    `cd -- ${quote(cwd)}||exit`,
    // `cd -` would otherwise lead to where the shell waited.
    'unset OLDPWD _gauntlet_prologue',
    ...Object.entries(env).map(([name, value]) => `export ${name}=${quote(value)}`),
  ];
  if (cwdFile !== undefined) {
    // Silent: what cannot be told of a folder that is gone would stand in the command's output.
    const report = `builtin pwd -P 2>/dev/null >|${quote(cwdFile)}`;
    // The trap also sees `exit`; the epilogue also sees scripts that set a trap of their own.
    lines.push(`trap ${quote(report)} EXIT`);
    lines.push(`_gauntlet_epilogue=${quote(`_gauntlet_epilogue=$?;${report};exit $_gauntlet_epilogue`)}`);
  }
  return lines.join(';');
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
