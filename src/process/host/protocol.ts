/**
 * Frames between the server and the process host: length-prefixed, binary, both ways over one socket.
 *
 * A frame is `u32 length of what follows, u8 kind, u32 child, payload`, big endian. Output payloads are raw bytes; the
 * others are small JSON values.
 */
import type { Writable } from 'node:stream';

/** Kinds of frames from the server to the host. */
export const ToHost = {
  spawn: 1,
  stdin: 2,
  stdinEnd: 3,
  signal: 4,
  killTree: 5,
  acknowledge: 6,
  sweep: 7,
  ping: 8,
  jails: 9,
  openJail: 10,
  /** The first frame: `HostSettings`. */
  configure: 11,
} as const;

/** Kinds of frames from the host to the server. */
export const FromHost = {
  started: 1,
  failed: 2,
  stdout: 3,
  stderr: 4,
  exited: 5,
  stdinTaken: 6,
  treeKilled: 7,
  swept: 8,
  pong: 9,
  jails: 10,
  jailOpened: 11,
} as const;

/** One decoded frame. */
export interface HostFrame {
  readonly kind: number;
  /** Id that the server gave the child or the request. */
  readonly child: number;
  readonly payload: Buffer;
}

const LENGTH_BYTES = 4;
const HEADER_BYTES = 9;
/** Up to this size, copying the payload is cheaper than a second buffer in the write. */
const COPIED_PAYLOAD_BYTES = 4_096;
/** Maximum length: both ends are ours, so a longer frame means that the stream is out of step. */
const FRAME_BYTES = 64 * 1_024 * 1_024;

/** Write one frame immediately. */
export function writeFrame(
  socket: Writable,
  kind: number,
  child: number,
  payload: Uint8Array = new Uint8Array(),
): void {
  if (socket.destroyed || socket.writableEnded) return;
  const isCopied = payload.length <= COPIED_PAYLOAD_BYTES;
  const head = Buffer.allocUnsafe(HEADER_BYTES + (isCopied ? payload.length : 0));
  head.writeUInt32BE(HEADER_BYTES - LENGTH_BYTES + payload.length, 0);
  head.writeUInt8(kind, LENGTH_BYTES);
  head.writeUInt32BE(child, LENGTH_BYTES + 1);
  if (isCopied) {
    head.set(payload, HEADER_BYTES);
    socket.write(head);
    return;
  }
  // While corked, header and payload are written by one system call, and the payload is not copied.
  socket.cork();
  socket.write(head);
  socket.write(payload);
  socket.uncork();
}

/** Write one frame whose payload is a JSON value. */
export function writeJsonFrame(socket: Writable, kind: number, child: number, value: unknown): void {
  writeFrame(socket, kind, child, Buffer.from(JSON.stringify(value)));
}

/**
 * Decode frames from the chunks of a socket.
 *
 * @param onFrame Called once for each frame; the payload is a view of the chunks.
 * @returns A function that takes the next chunk. @throws {RangeError} for a frame of invalid length.
 */
export function frameDecoder(onFrame: (frame: HostFrame) => void): (chunk: Buffer) => void {
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let wantedBytes = LENGTH_BYTES;

  return function take(chunk) {
    waiting.push(chunk);
    waitingBytes += chunk.length;
    // Joined only when a frame is complete, so that a long one is copied once and not with each chunk.
    if (waitingBytes < wantedBytes) return;
    let bytes = waiting.length === 1 ? chunk : Buffer.concat(waiting);
    for (wantedBytes = frameBytes(bytes); bytes.length >= wantedBytes; wantedBytes = frameBytes(bytes)) {
      const frame = bytes.subarray(0, wantedBytes);
      bytes = bytes.subarray(wantedBytes);
      onFrame({
        kind: frame.readUInt8(LENGTH_BYTES),
        child: frame.readUInt32BE(LENGTH_BYTES + 1),
        payload: frame.subarray(HEADER_BYTES),
      });
    }
    waiting = bytes.length === 0 ? [] : [bytes];
    waitingBytes = bytes.length;
  };
}

/** Length of the first frame in `bytes`, or of its length field while that is incomplete. */
function frameBytes(bytes: Buffer): number {
  if (bytes.length < LENGTH_BYTES) return LENGTH_BYTES;
  const length = LENGTH_BYTES + bytes.readUInt32BE(0);
  if (length > FRAME_BYTES || length < HEADER_BYTES) throw new RangeError(`Cannot read a frame of ${length} bytes`);
  return length;
}
