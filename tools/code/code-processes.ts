/** The processes of these tools that outlive a call. */
import { LRUCache } from 'lru-cache';
import type { LanguageServer } from './lsp/language-server.ts';
import type { ReplProcess } from './repl/repl-process.ts';
import { WarmProcesses } from './warm-processes.ts';

/** Language servers at once; each takes some hundred MiB. */
const MAX_LANGUAGE_SERVERS = 8;

/** A language server takes seconds to read a project, and its memory while it is kept. */
const LANGUAGE_SERVER_IDLE_MS = 10 * 60_000;

/** A language server that fails more often is broken. */
const MAX_SERVER_FAILURES = 3;

/** Processes of the REPL at once; each takes some 50 MiB, or more for what its code keeps. */
const MAX_REPLS = 16;

/** Values of a session are kept for as long after its last run. */
const REPL_IDLE_MS = 30 * 60_000;

/** Sessions of which is known that they have had a process. */
const MAX_REPL_SESSIONS = 10_000;

/** Calls between their gate and their run. */
const MAX_HELD_CALLS = 10_000;

/** Processes by tool. */
export interface CodeProcesses {
  readonly languageServers: WarmProcesses<LanguageServer>;
  readonly repls: WarmProcesses<ReplProcess>;
  /** Sessions that have had a REPL: a new process means that values were lost. */
  readonly replSessions: LRUCache<string, true>;
  /** Calls that passed their gate because the code is held: they run held or not at all. */
  readonly heldCalls: LRUCache<string, true>;
  /** End those of a session. */
  endSession(sessionId: string): Promise<void>;
  /** End all. */
  close(): Promise<void>;
}

/** Create them; nothing is started before its first use. */
export function createCodeProcesses(): CodeProcesses {
  const languageServers = new WarmProcesses<LanguageServer>({
    kind: 'language servers',
    maxProcesses: MAX_LANGUAGE_SERVERS,
    idleMs: LANGUAGE_SERVER_IDLE_MS,
    maxFailures: MAX_SERVER_FAILURES,
  });
  const repls = new WarmProcesses<ReplProcess>({
    kind: 'REPLs',
    maxProcesses: MAX_REPLS,
    idleMs: REPL_IDLE_MS,
    // Code that takes too long ends its process, and is no fault of that.
    maxFailures: Infinity,
  });
  const all = [languageServers, repls];
  return {
    ...{ languageServers, repls },
    replSessions: new LRUCache({ max: MAX_REPL_SESSIONS }),
    heldCalls: new LRUCache({ max: MAX_HELD_CALLS }),
    endSession: async (sessionId) => void (await Promise.all(all.map((processes) => processes.endSession(sessionId)))),
    close: async () => void (await Promise.all(all.map((processes) => processes.close()))),
  };
}
