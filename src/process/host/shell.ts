/**
 * A shell that was started ahead and waits for its script, once.
 *
 * Descriptor 3 carries a line with two lengths in bytes and then two strings: a prologue that sets folder and
 * environment, and the script. The shell closes it before it runs either, and stdin is the null device, so that a
 * script cannot read the shell's input.
 */
import type { SpawnMessage } from './messages.ts';

// `read -N` reads blocks, where a line or a delimiter would be read byte by byte; in the C locale it counts bytes. The
// evals are on the first line, so that line numbers in errors are those of the script.
const READ_STRING = (name: string) => `IFS= read -r -N "$${name}" -u 3 ${name}`;
const PROGRAM =
  'LC_ALL=C;read -r -u 3 _gauntlet_prologue _gauntlet_script&&' +
  `${READ_STRING('_gauntlet_prologue')}&&${READ_STRING('_gauntlet_script')}||exit;unset LC_ALL;exec 3<&-;` +
  'eval "$_gauntlet_prologue";eval "$_gauntlet_script";eval "$_gauntlet_epilogue"';

/** Program and arguments of a waiting shell. */
export const WAITING_SHELL = { file: 'bash', args: ['--noprofile', '--norc', '-c', PROGRAM] } as const;

/**
 * Serialise what descriptor 3 delivers to make the shell run a script.
 *
 * @param limits Options of `ulimit`, which the shell applies first. A failure is ignored, since a lower limit in effect
 *   is sufficient.
 */
export function shellInput(spawn: SpawnMessage & { readonly shellScript: string }, limits?: string): Buffer {
  const limit = limits === undefined ? '' : `ulimit ${limits} 2>/dev/null;`;
  const texts = [limit + prologue(spawn), spawn.shellScript === '' ? ':' : spawn.shellScript];
  return Buffer.from(`${texts.map((text) => Buffer.byteLength(text)).join(' ')}\n${texts.join('')}`);
}

function prologue({ cwd, env, cwdFile }: SpawnMessage): string {
  const lines = [
    '_gauntlet_epilogue="exit \\$?"',
    `cd -- ${quote(cwd)}||exit`,
    // `cd -` would otherwise lead to the folder in which the shell waited.
    'unset OLDPWD _gauntlet_prologue',
    ...Object.entries(env).map(([name, value]) => `export ${name}=${quote(value)}`),
  ];
  if (cwdFile !== undefined) {
    // Errors are discarded: one about a deleted folder would appear in the command's output.
    const report = `builtin pwd -P 2>/dev/null >|${quote(cwdFile)}`;
    // The trap also runs on `exit`; the epilogue also runs after scripts that replace the trap.
    lines.push(`trap ${quote(report)} EXIT`);
    lines.push(`_gauntlet_epilogue=${quote(`_gauntlet_epilogue=$?;${report};exit $_gauntlet_epilogue`)}`);
  }
  return lines.join(';');
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
