/**
 * What was wrong with a client's frame, told on its connection alone.
 */
import type { RequestErrorCode } from '../../src/base/errors.ts';
import { toWireError } from '../error-reply.ts';
import type { ClientFrame } from './client-frame.ts';

/** An `error` frame. */
export interface ErrorFrame {
  readonly type: 'error';
  readonly code: RequestErrorCode;
  readonly message: string;
  readonly tool_use_id?: string;
  readonly request_id?: string;
  /** The field that is wrong. */
  readonly path?: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Make one. @param frame As far as it was understood: the error names what it was about. */
export function errorFrame(error: unknown, frame: ClientFrame | undefined): ErrorFrame {
  const wire = toWireError(error);
  return { type: 'error', ...wire, ...call(wire.details), ...subject(frame), ...field(wire.details) };
}

/** A streamed block's event does not name the call it ends: the refusal does. */
function call(details: Readonly<Record<string, unknown>> | undefined): Pick<ErrorFrame, 'tool_use_id'> {
  const id = details?.['tool_use_id'];
  return typeof id === 'string' ? { tool_use_id: id } : {};
}

function subject(frame: ClientFrame | undefined): Pick<ErrorFrame, 'tool_use_id' | 'request_id'> {
  if (frame?.type === 'permission_answer') return { request_id: frame.request_id };
  if (frame?.type === 'cancel') return { tool_use_id: frame.tool_use_id };
  if (frame?.type !== 'tool_use') return {};
  const { id } = (frame.tool_use ?? {}) as { readonly id?: unknown };
  return typeof id === 'string' ? { tool_use_id: id } : {};
}

function field(details: Readonly<Record<string, unknown>> | undefined): Pick<ErrorFrame, 'path'> {
  const path = details?.['path'];
  return typeof path === 'string' ? { path } : {};
}
