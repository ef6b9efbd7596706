/** The processes of these tools that outlive a call. */
import type { LanguageServer } from './lsp/language-server.ts';
import { WarmProcesses } from './warm-processes.ts';

/** Language servers at once; each takes some hundred MiB. */
const MAX_LANGUAGE_SERVERS = 8;

/** A language server takes seconds to read a project, and its memory while it is kept. */
const LANGUAGE_SERVER_IDLE_MS = 10 * 60_000;

/** Processes by tool. */
export interface CodeProcesses {
  readonly languageServers: WarmProcesses<LanguageServer>;
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
  });
  const all = [languageServers];
  return {
    languageServers,
    endSession: async (sessionId) => void (await Promise.all(all.map((processes) => processes.endSession(sessionId)))),
    close: async () => void (await Promise.all(all.map((processes) => processes.close()))),
  };
}
