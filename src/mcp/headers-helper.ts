/**
 * The command of `headersHelper`: it prints headers for the requests to one server, such as tokens that live for minutes.
 *
 * Only the operator's own settings have one.
 */
import type { FetchLike } from '@modelcontextprotocol/client';
import * as z from 'zod';
import { errorMessage } from '../base/errors.ts';
import type { ProcessHost } from '../process/process-host.ts';
import { runProgram } from '../process/run-program.ts';
import { inheritedEnvironment } from './stdio-transport.ts';

/** Time of one run. */
const RUN_MS = 10_000;

/** Output of one run, both pipes together. */
const OUTPUT_BYTES = 64 * 1_024;

const Printed = z.record(z.string(), z.string());

/** Options of `HeadersHelper`. */
export interface HeadersHelperOptions {
  /** Command line for a shell. */
  readonly command: string;
  /** Name of the server, as configured. */
  readonly server: string;
  readonly url: string;
  /** Working directory. */
  readonly folder: string;
  readonly processHost: ProcessHost;
}

type PrintedHeaders = z.output<typeof Printed>;

/** Runs the command when its headers are first needed, and again once the server has refused them. */
export class HeadersHelper {
  readonly #options: HeadersHelperOptions;
  /** Headers of the last run; requests at the same time share it. */
  #printed: Promise<PrintedHeaders> | undefined;
  #secrets: readonly string[] = [];

  constructor(options: HeadersHelperOptions) {
    this.#options = options;
  }

  /** Add the headers to all requests, ahead of static ones. A request that is answered with 401 is repeated once with new ones. */
  watch(inner: FetchLike): FetchLike {
    return async (url, init) => {
      const used = this.#current();
      const response = await inner(url, withHeaders(init, await used));
      if (response.status !== 401) return response;
      // Another request may have had them refused before.
      if (this.#printed === used) this.#printed = undefined;
      const next = await this.#current();
      await response.body?.cancel();
      return inner(url, withHeaders(init, next));
    };
  }

  /** Values of the last headers, which no text of the server may repeat. */
  secrets(): readonly string[] {
    return this.#secrets;
  }

  #current(): Promise<PrintedHeaders> {
    if (this.#printed !== undefined) return this.#printed;
    const running = this.#run();
    this.#printed = running;
    running.catch(() => {
      // Tried again with the next request.
      if (this.#printed === running) this.#printed = undefined;
    });
    return running;
  }

  async #run(): Promise<PrintedHeaders> {
    const { command, server, url, folder, processHost } = this.#options;
    const run = runProgram(processHost, {
      ...{ file: '/bin/sh', args: ['-c', command], cwd: folder, input: '' },
      // The names that helpers written for Claude Code read.
      env: { ...inheritedEnvironment(), CLAUDE_CODE_MCP_SERVER_NAME: server, CLAUDE_CODE_MCP_SERVER_URL: url },
      timeoutMs: RUN_MS,
      outputBytes: OUTPUT_BYTES,
      signal: new AbortController().signal,
    });
    const { code, signal, stdout, stoppedBy } = await run.catch((cause: unknown) => {
      throw failure(errorMessage(cause), cause);
    });
    if (stoppedBy === 'timeout') throw failure(`it did not end within ${RUN_MS} ms`);
    if (stoppedBy === 'output_limit') throw failure(`it printed more than ${OUTPUT_BYTES} bytes`);
    if (code !== 0) throw failure(`it ended with ${code === null ? signal : `exit code ${code}`}`);
    const printed = parse(stdout);
    // "Bearer <token>": the token alone is a secret too.
    this.#secrets = Object.values(printed).flatMap((value) => [value, ...value.split(' ').slice(1)]);
    return printed;
  }
}

/** Output of the command may be secret, so no message repeats it. */
function parse(stdout: string): PrintedHeaders {
  try {
    const printed = Printed.parse(JSON.parse(stdout));
    void new Headers(printed);
    return printed;
  } catch {
    throw failure('it printed no JSON object of headers with texts as values');
  }
}

function withHeaders(init: RequestInit | undefined, printed: PrintedHeaders): RequestInit {
  const headers = new Headers(init?.headers);
  for (const [name, value] of Object.entries(printed)) headers.set(name, value);
  return { ...init, headers };
}

function failure(why: string, cause?: unknown): Error {
  return new Error(`Cannot get headers from its "headersHelper": ${why}`, { cause });
}
