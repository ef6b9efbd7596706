/** `gauntlet exec TOOL INPUT`: runs one block, and prints its progress and result. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { text as readAll } from 'node:stream/consumers';
import type { ToolResultBlock } from '../../src/wire/blocks.ts';
import { resultText } from '../../src/wire/result-text.ts';
import { UsageError } from '../command-line.ts';
import { findServer, readText, send, type RunningServer } from '../server-client.ts';
import { safeLine, safeText } from '../terminal-text.ts';

/** Parsed command line. */
interface ExecCommand {
  readonly environment: NodeJS.ProcessEnv;
  readonly options: Readonly<Record<string, string | true>>;
  readonly operands: readonly string[];
}

/** Fields of a frame that this file uses. */
interface FrameFields {
  readonly type: string;
  readonly data?: { readonly text?: string; readonly message?: string; readonly stream?: string };
  readonly request_id?: string;
  readonly title?: string;
  readonly message?: string;
  readonly tool_result?: ToolResultBlock;
  readonly call?: { readonly status: string };
}

/**
 * Run one tool and print its progress to standard error and its result to standard output.
 *
 * @returns 0 if the call ended `ok`, else 1.
 * @throws {UsageError} If an operand or option is invalid.
 */
export async function execute({ environment, options, operands }: ExecCommand): Promise<number> {
  const [name = '', inputText = ''] = operands;
  const { url, session, json, 'on-ask': onAsk = 'deny' } = options;
  if (onAsk !== 'wait' && onAsk !== 'deny') throw new UsageError('--on-ask must be wait or deny');
  const body = {
    ...(session !== undefined && { session_id: session }),
    on_ask: onAsk,
    tool_uses: [{ type: 'tool_use', id: `exec_${randomUUID()}`, name, input: await parseInput(inputText) }],
  };
  const server = findServer(environment, typeof url === 'string' ? url : undefined);
  const accept = json ? 'application/json' : 'application/x-ndjson';
  const reply = await send(server, { method: 'POST', path: '/execute', accept, body });
  return json ? printReply(await readText(reply)) : followFrames(reply, server);
}

async function parseInput(inputText: string): Promise<unknown> {
  try {
    return JSON.parse(inputText === '-' ? await readAll(process.stdin) : inputText);
  } catch (error) {
    throw new UsageError(`The input is not JSON: ${(error as Error).message}`);
  }
}

function printReply(body: string): number {
  process.stdout.write(`${body}\n`);
  const { calls } = JSON.parse(body) as { calls: readonly { readonly status: string }[] };
  return calls.every(({ status }) => status === 'ok') ? 0 : 1;
}

async function followFrames(reply: IncomingMessage, server: RunningServer): Promise<number> {
  let exitCode = 1;
  // On a terminal both streams appear together, so output that was shown as progress is not repeated.
  let isAlreadyShown = false;
  const sharesTerminal = process.stdout.isTTY && process.stderr.isTTY;
  for await (const line of createInterface({ input: reply })) {
    if (line === '') continue;
    const frame = JSON.parse(line) as FrameFields;
    if (frame.type === 'progress') {
      process.stderr.write(progressText(frame));
      isAlreadyShown ||= sharesTerminal && frame.data?.text !== undefined;
    }
    if (frame.type === 'notice') process.stderr.write(`${safeText(frame.message ?? '')}\n`);
    else if (frame.type === 'permission_request') process.stderr.write(questionText(frame, server));
    else if (frame.type === 'result' && frame.tool_result) {
      const text = resultText(frame.tool_result.content);
      exitCode = frame.call?.status === 'ok' ? 0 : 1;
      if (!isAlreadyShown || exitCode !== 0) process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
    }
  }
  return exitCode;
}

function progressText({ data }: FrameFields): string {
  if (data?.text !== undefined) return data.text;
  return data?.message === undefined ? '' : `${data.message}\n`;
}

function questionText({ title, request_id }: FrameFields, server: RunningServer): string {
  return `Waiting for an answer to ${request_id ?? 'a question'} at ${server.url.origin}: ${safeLine(title ?? 'may it run?')}\n`;
}
