/** Every program that is known, by name: what is not here is not read-only. */
import type { ProgramSpec } from '../program-spec.ts';
import { AWK } from './awk.ts';
import { BUILTINS } from './builtins.ts';
import { FILE_PROGRAMS } from './files.ts';
import { FIND } from './find.ts';
import { GIT } from './git.ts';
import { SED } from './sed.ts';
import { SYSTEM_PROGRAMS } from './system.ts';
import { TEXT_PROGRAMS } from './text.ts';
import { TOOLCHAIN_PROGRAMS } from './toolchains.ts';

/** tee with no file but the null device only passes text on. */
const TEE: ProgramSpec = {
  flags: '-aip --append --ignore-interrupts --output-error?',
  check: ({ operands }) => (operands.every((word) => word.literal === '/dev/null') ? undefined : 'tee writes files'),
};

const PROGRAMS = new Map<string, ProgramSpec>(
  Object.entries({
    ...TOOLCHAIN_PROGRAMS,
    ...SYSTEM_PROGRAMS,
    ...FILE_PROGRAMS,
    ...TEXT_PROGRAMS,
    find: FIND,
    sed: SED,
    gsed: SED,
    awk: AWK,
    gawk: AWK,
    mawk: AWK,
    nawk: AWK,
    git: GIT,
    tee: TEE,
    ...BUILTINS,
  }),
);

/** Programs that are called to look at something. Builtins, tools with a language and toolchains are called to act. */
const READERS: Readonly<Record<string, ProgramSpec>> = { ...SYSTEM_PROGRAMS, ...FILE_PROGRAMS, ...TEXT_PROGRAMS };

/**
 * The spec of a program that is called to look at something, and that can do more.
 *
 * @returns undefined where an allow rule for the program covers all it does.
 */
export function findReader(name: string): ProgramSpec | undefined {
  const spec = Object.hasOwn(READERS, name) ? READERS[name] : undefined;
  if (!spec || spec.isCoveredWhole === true || spec.subcommands) return undefined;
  // No word of it does harm.
  return spec.isOpen === true && spec.mostOperands === undefined ? undefined : spec;
}

/** The spec of a program or builtin. */
export function findProgram(name: string): ProgramSpec | undefined {
  return PROGRAMS.get(name);
}
