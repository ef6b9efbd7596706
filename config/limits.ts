/**
 * The limits that an operator may change, by load, memory, patience or disk; the settings file names them in `limits`.
 *
 * Each name ends in its unit: `Ms`, `Bytes`, `Chars`, `Days`; counts have none. `docs/settings.md` lists the same names
 * with their defaults and says when to change them. All other bounds are constants in the files that use them.
 */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const KIB = 1_024;
const MIB = 1_024 * KIB;
const GIB = 1_024 * MIB;

/** Size of a settings file, which is read whole. No setting: the file would have to be read first. */
export const SETTINGS_FILE_BYTES = 1 * MIB;

/** Nesting of a settings file; the deepest real setting needs seven levels. */
export const SETTINGS_DEPTH = 32;

/** A token set by hand that is shorter can be guessed: it causes a warning, and beyond loopback an error. */
export const SHORTEST_TOKEN_CHARS = 16;

/** Longest delay of a timer in Node; a longer one fires at once. */
export const LONGEST_TIMER_MS = 2_147_483_647;

/** All limits by name. */
export const DEFAULT_LIMITS = {
  // HTTP.
  /** Body of one request. The Messages API takes more, but a batch of blocks does not need it. */
  bodyBytes: 4 * MIB,
  /** Time for the whole request; then it is refused. */
  bodyTimeoutMs: 15 * SECOND,
  /** Open sockets. After a restart, a thousand browsers reconnect with one or two each. */
  connections: 2_000,
  /** Open sockets of one address; 0 means no bound, since all clients of a proxy share its address. */
  addressConnections: 0,
  /** Open sockets without a valid credential; the oldest beyond it are closed. */
  unauthenticatedConnections: 32,

  // WebSockets.
  /** One message from a client. */
  webSocketMessageBytes: 1 * MIB,
  /** Interval between pings on an idle WebSocket; two that are not answered end it. */
  webSocketPingMs: 15 * SECOND,
  /** Messages that a client may send a second, ten times as many at once; more close the WebSocket with 4429. */
  messagesPerSecond: 2_000,
  /** A reader that takes nothing for this long is closed with 4008; it may resume. */
  slowReaderMs: 30 * SECOND,

  // Principals: each number is for all connections of one principal together, and 0 means no bound.
  /** HTTP requests and WebSocket messages a second. */
  requestsPerSecond: 0,
  /** Requests that may come at once; 0 means as many as come in a second. */
  requestBurst: 0,
  /** Calls that were accepted and have no result yet, in all sessions. */
  callsAtOnce: 0,
  /** Sessions in memory that run, wait or are watched. */
  sessionsInUse: 0,
  /** Open WebSockets. */
  streams: 0,

  // Sessions.
  /** Sessions in memory; idle ones beyond it are unloaded and loaded again on their next use. */
  openSessions: 2_000,
  /** A session that is not used for this long is unloaded. */
  idleSessionMs: 5 * MINUTE,
  /** Turns and calls of one session that stay in memory after their end, 0.5 KiB each; older ones are read from disk. */
  keptRecords: 2_048,

  // Calls.
  /** Calls of one session that run at once (`GAUNTLET_MAX_TOOL_USE_CONCURRENCY`). */
  toolUseConcurrency: 10,
  /** An open turn ends this long after its feeder disconnected. */
  turnFeederMs: 30 * SECOND,
  /** A cancelled tool that goes on is abandoned after this long. */
  abandonMs: 10 * SECOND,
  /** Time between SIGTERM and SIGKILL for a process group, and for closing connections. */
  killGraceMs: 1 * SECOND,
  /** Time for running calls to finish when the server is told to stop. */
  drainMs: 30 * SECOND,

  // Questions and hooks.
  /** An open question is answered "no" after this long. */
  askTimeoutMs: 10 * MINUTE,
  /** Time for a hook that has no `timeout` of its own. */
  hookMs: 60 * SECOND,

  // Results.
  /** Text of one result that a model is sent; a longer one is saved to a file and shown in part. */
  resultChars: 50_000,
  /** Text of all results of one turn. */
  turnResultChars: 200_000,
  /** Part of a saved result that a model is shown. */
  previewChars: 2_000,
  /** Output of one call that is saved; with more, the call ends with `output_limit`. */
  spillBytes: 64 * MIB,

  // Commands.
  /** Time for a command whose call does not say. */
  commandMs: 2 * MINUTE,
  /** Longest time that a call may ask for. */
  commandMaxMs: 10 * MINUTE,
  /** Background tasks of one session that run at once. */
  backgroundTasks: 16,
  /** Processes started by calls that run at once, in all sessions. */
  hostedChildren: 256,
  /** Shells started in advance, some 3 MiB each: a command need not wait for one. */
  warmShells: 3,

  // The jail of commands that only read, and the sandbox.
  /** Memory of each process in a jail. */
  jailMemoryBytes: 2 * GIB,
  /**
   * Names searched in the working directories for what deny rules hide; with more, a command is asked about. The same
   * number is searched in the system's folders; with more, the rule hides nothing there.
   */
  jailScanNames: 50_000,
  /** Size of /tmp, of /var/tmp and of /dev/shm in a sandbox; all are in memory. */
  sandboxTemporaryBytes: 512 * MIB,

  // Files.
  /** Bytes kept for undo in one session; equal contents count once. */
  historySessionBytes: 256 * MIB,

  // Agents.
  /** Messages of its model. An agent that explores takes 5 to 30. */
  agentTurns: 200,
  /** Tokens of all its requests and replies together, as the provider counts them. */
  agentTokens: 10_000_000,
  /** An agent ends after this long. */
  agentMs: 60 * MINUTE,
  /** Tokens of one message that a provider is asked for at most, over the Messages API. */
  modelReplyTokens: 16_384,

  // MCP servers.
  /** Time to connect to a server and list its tools. */
  mcpConnectMs: 30 * SECOND,
  /** A call ends with `timeout` after this long without an answer or progress. */
  mcpCallIdleMs: 5 * MINUTE,
  /** A call ends with `timeout` after this long, whatever its progress. */
  mcpCallMs: 60 * MINUTE,

  // Data on disk.
  /** Size of the log; when it is reached, appends are refused until sessions are removed. */
  logFileBytes: 64 * GIB,
  /** Age of frames that are removed once no session needs them, and of sessions that are removed whole. */
  sessionDays: 30,
  /** Approximate size of one session's frames; its oldest are removed beyond it. */
  sessionLogBytes: 1 * GIB,
  /** Size of the log and all session folders; the sessions that were not used for longest are removed beyond it. */
  dataBytes: 32 * GIB,
  /** Interval at which the three limits above are applied. */
  retentionMs: 5 * MINUTE,
  /** Older files of the audit trail that are kept. */
  auditFiles: 8,
} as const satisfies Record<string, number>;

/** Every limit by name. */
export type Limits = { readonly [Name in keyof typeof DEFAULT_LIMITS]: number };
