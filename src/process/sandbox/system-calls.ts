/**
 * What no sandboxed command may ask of the kernel, whatever it sees: keys of the server's session, typing into
 * a terminal, and parts of the kernel that ordinary programs do without and escapes have begun in.
 *
 * Asked for them, the kernel says that it does not have them, and programs do without.
 */

/** Of keys, of tracing and programs in the kernel, of page faults, of rings. */
const REFUSED: Partial<Record<NodeJS.Architecture, readonly number[]>> = {
  x64: [248, 249, 250, 298, 321, 323, 425, 426, 427],
  arm64: [217, 218, 219, 241, 280, 282, 425, 426, 427],
};
/** @see linux/audit.h */
const AUDIT_NAME: Partial<Record<NodeJS.Architecture, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };
const IOCTL: Partial<Record<NodeJS.Architecture, number>> = { x64: 16, arm64: 29 };
/** `TIOCSTI` and `TIOCLINUX`. */
const REFUSED_REQUESTS = [0x5412, 0x541c];
/** Numbers from here on belong to another way of calling the same kernel. */
const X32 = 0x40000000;

/** @see linux/bpf_common.h */
const LOAD = 0x20;
const IF_EQUAL = 0x15;
const IF_AT_LEAST = 0x35;
const RETURN = 0x06;
/** Offsets in what a filter sees of a call. @see linux/seccomp.h */
const NUMBER = 0;
const ARCHITECTURE = 4;
const SECOND_ARGUMENT = 24;
const ALLOW = 0x7fff0000;
/** With the error `ENOSYS`. */
const REFUSE = 0x00050026;

/**
 * The filter as bubblewrap takes it. Programs of another architecture, 32 bits too, may ask for nothing.
 *
 * @returns undefined for an architecture whose numbers are not known here.
 * @see seccomp(2)
 */
export function systemCallFilter(architecture: NodeJS.Architecture): Buffer | undefined {
  const [refused, audit, ioctl] = [REFUSED[architecture], AUDIT_NAME[architecture], IOCTL[architecture]];
  if (refused === undefined || audit === undefined || ioctl === undefined) return undefined;
  const checks = [...refused.map((number) => refuseIf(IF_EQUAL, number)), refuseIf(IF_AT_LEAST, X32)];
  const requests = REFUSED_REQUESTS.map((request) => refuseIf(IF_EQUAL, request));
  return Buffer.concat([
    instruction(LOAD, ARCHITECTURE),
    instruction(IF_EQUAL, audit, 1, 0),
    instruction(RETURN, REFUSE),
    instruction(LOAD, NUMBER),
    ...checks,
    instruction(IF_EQUAL, ioctl, 1, 0),
    instruction(RETURN, ALLOW),
    instruction(LOAD, SECOND_ARGUMENT),
    ...requests,
    instruction(RETURN, ALLOW),
  ]);
}

function refuseIf(condition: number, value: number): Buffer {
  return Buffer.concat([instruction(condition, value, 0, 1), instruction(RETURN, REFUSE)]);
}

/** @param whenTrue How many to pass over when the condition holds; `whenFalse` when it does not. */
function instruction(code: number, value: number, whenTrue = 0, whenFalse = 0): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(whenTrue, 2);
  bytes.writeUInt8(whenFalse, 3);
  bytes.writeUInt32LE(value, 4);
  return bytes;
}
