/**
 * The launcher of a jail: a program of some hundred bytes that binds itself by a list of system calls and then executes
 * the program it was given.
 *
 * Landlock, filters, limits and rights apply to the calling process and everything it starts. The process host must not
 * bind itself, Node cannot run code between fork and exec, and a worker thread that binds itself (the alternative that
 * was tried) takes 8 MiB and 45 ms each, too much for 64 sessions. So a loop of twenty instructions makes the calls of
 * a table: 0.05 ms a start.
 *
 * The image is an ELF program for Linux, kept in memory. Its arguments are the absolute path of the program to execute
 * and that program's arguments, its name first; descriptors and environment are passed on.
 */
import { type KnownArchitecture, type SystemCallName, systemCallNumber } from '../system-call-numbers.ts';

/** One call of the launcher. Buffers are passed by address, a filter as the `sock_fprog` that points to it. */
export interface LauncherCall {
  readonly name: SystemCallName;
  readonly arguments: readonly (number | bigint | Buffer | { readonly filter: Buffer })[];
  /** True if the launch continues when the kernel rejects this call. */
  readonly mayFail?: boolean;
}

/** Load address of the image; any page would do. */
const BASE = 0x40_0000;
const ELF_HEADER_BYTES = 64;
const PROGRAM_HEADER_BYTES = 56;
const CODE_OFFSET = 256;
/**
 * Words of a table row: a number, six arguments, and a mask for the result, all ones if an error must end the launch.
 */
const ROW_WORDS = 8;
const WORD_BYTES = 8;
const END_OF_TABLE = -1n;
const MUST_SUCCEED = -1n;

/** @see elf(5) */
const ELF_MACHINE: Readonly<Record<KnownArchitecture, number>> = { x64: 62, arm64: 183 };
const LOADED = 1;
const STACK = 0x6474e551;
const READABLE = 4;
const WRITABLE = 2;
const EXECUTABLE = 1;

/**
 * Code of the launcher, assembled with GNU as; the table follows it, and both versions are 96 bytes long. A launcher
 * whose call is rejected exits with 126 before the program has run.
 */
const CODE: Readonly<Record<KnownArchitecture, string>> = {
  x64: [
    '488d1d59000000', //       lea  rbx, [rip + table]
    '488b03', //        next:  mov  rax, [rbx]
    '4885c0', //               test rax, rax
    '7826', //                 js   run
    '488b7b08', //             mov  rdi, [rbx + 8]
    '488b7310', //             mov  rsi, [rbx + 16]
    '488b5318', //             mov  rdx, [rbx + 24]
    '4c8b5320', //             mov  r10, [rbx + 32]
    '4c8b4328', //             mov  r8, [rbx + 40]
    '4c8b4b30', //             mov  r9, [rbx + 48]
    '0f05', //                 syscall
    '48234338', //             and  rax, [rbx + 56]
    '7820', //                 js   fail
    '4883c340', //             add  rbx, 64
    'ebd2', //                 jmp  next
    '488b0c24', //      run:   mov  rcx, [rsp]              number of words
    '488d742410', //           lea  rsi, [rsp + 16]         the program's words
    '488d54cc10', //           lea  rdx, [rsp + rcx*8 + 16] environment
    '488b7c2408', //           mov  rdi, [rsp + 8]          its path
    'b83b000000', //           mov  eax, 59                 execve
    '0f05', //                 syscall
    'bf7e000000', //    fail:  mov  edi, 126
    'b8e7000000', //           mov  eax, 231                exit_group
    '0f05', //                 syscall
    '0f1f440000', //           nop
  ].join(''),
  arm64: [
    '13030010', //             adr  x19, table
    '680240f9', //      next:  ldr  x8, [x19]
    '4801f8b7', //             tbnz x8, #63, run
    '608640a9', //             ldp  x0, x1, [x19, #8]
    '628e41a9', //             ldp  x2, x3, [x19, #24]
    '649642a9', //             ldp  x4, x5, [x19, #40]
    '010000d4', //             svc  #0
    '691e40f9', //             ldr  x9, [x19, #56]
    '0000098a', //             and  x0, x0, x9
    '2001f8b7', //             tbnz x0, #63, fail
    '73020191', //             add  x19, x19, #64
    'f6ffff17', //             b    next
    'e90340f9', //      run:   ldr  x9, [sp]                number of words
    'e1430091', //             add  x1, sp, #16             the program's words
    '220c098b', //             add  x2, x1, x9, lsl #3      environment
    'e00740f9', //             ldr  x0, [sp, #8]            its path
    'a81b80d2', //             mov  x8, #221                execve
    '010000d4', //             svc  #0
    'c00f80d2', //      fail:  mov  x0, #126
    'c80b80d2', //             mov  x8, #94                 exit_group
    '010000d4', //             svc  #0
    '1f2003d51f2003d51f2003d5', // nop, three times
  ].join(''),
};

/**
 * Build a launcher.
 *
 * @param calls Executed in order; calls that the architecture lacks are left out.
 * @returns The program, to be written to an executable file.
 */
export function launcherImage(architecture: KnownArchitecture, calls: readonly LauncherCall[]): Buffer {
  const code = Buffer.from(CODE[architecture], 'hex');
  const known = calls.flatMap((call) => {
    const number = systemCallNumber(call.name, architecture);
    return number === undefined ? [] : [{ ...call, number }];
  });
  const dataOffset = CODE_OFFSET + code.length + (known.length + 1) * ROW_WORDS * WORD_BYTES;
  const data: Buffer[] = [];
  let dataBytes = 0;
  const addressOf = (bytes: Buffer): bigint => {
    const address = BASE + dataOffset + dataBytes;
    const padded = Buffer.concat([bytes, Buffer.alloc(-bytes.length & (WORD_BYTES - 1))]);
    data.push(padded);
    dataBytes += padded.length;
    return BigInt(address);
  };
  const valueOf = (argument: LauncherCall['arguments'][number]): bigint => {
    if (Buffer.isBuffer(argument)) return addressOf(argument);
    if (typeof argument !== 'object') return BigInt(argument);
    const { filter } = argument;
    return addressOf(words(BigInt(filter.length / WORD_BYTES), addressOf(filter)));
  };
  const rows = known.map(({ number, arguments: given, mayFail }) => {
    const values = given.map(valueOf);
    const unused = Array.from({ length: ROW_WORDS - 2 - values.length }, () => 0n);
    return words(BigInt(number), ...values, ...unused, mayFail === true ? 0n : MUST_SUCCEED);
  });
  const body = Buffer.concat([code, ...rows, words(END_OF_TABLE, ...Array.from({ length: 7 }, () => 0n)), ...data]);
  return Buffer.concat([header(architecture, CODE_OFFSET + body.length), body]);
}

function header(architecture: KnownArchitecture, imageBytes: number): Buffer {
  const bytes = Buffer.alloc(CODE_OFFSET);
  // 64 bits, little endian, version 1; an executable for this architecture.
  bytes.write('7f454c46020101', 0, 'hex');
  bytes.writeUInt16LE(2, 16);
  bytes.writeUInt16LE(ELF_MACHINE[architecture], 18);
  bytes.writeUInt32LE(1, 20);
  bytes.writeBigUInt64LE(BigInt(BASE + CODE_OFFSET), 24);
  bytes.writeBigUInt64LE(BigInt(ELF_HEADER_BYTES), 32);
  bytes.writeUInt16LE(ELF_HEADER_BYTES, 52);
  bytes.writeUInt16LE(PROGRAM_HEADER_BYTES, 54);
  bytes.writeUInt16LE(2, 56);
  // One segment that is never writable, and a stack that is never executable.
  const segment = (at: number, type: number, flags: number, sizeBytes: number) => {
    const address = BigInt(type === LOADED ? BASE : 0);
    bytes.writeUInt32LE(type, at);
    bytes.writeUInt32LE(flags, at + 4);
    bytes.writeBigUInt64LE(address, at + 16);
    bytes.writeBigUInt64LE(address, at + 24);
    bytes.writeBigUInt64LE(BigInt(sizeBytes), at + 32);
    bytes.writeBigUInt64LE(BigInt(sizeBytes), at + 40);
    bytes.writeBigUInt64LE(BigInt(type === LOADED ? 0x1_0000 : 16), at + 48);
  };
  segment(ELF_HEADER_BYTES, LOADED, READABLE | EXECUTABLE, imageBytes);
  segment(ELF_HEADER_BYTES + PROGRAM_HEADER_BYTES, STACK, READABLE | WRITABLE, 0);
  return bytes;
}

function words(...values: readonly bigint[]): Buffer {
  const bytes = Buffer.alloc(values.length * WORD_BYTES);
  values.forEach((value, index) => bytes.writeBigInt64LE(value, index * WORD_BYTES));
  return bytes;
}
