/**
 * Every number that bounds something, with its unit and the reason it has that value.
 *
 * Ground floor: imports nothing of ours. The settings file may override any of them by name
 * (`limits`), so a name here is part of what operators rely on.
 */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const KIB = 1_024;
const MIB = 1_024 * KIB;

/**
 * A settings file is read whole before anything else runs; larger ones are refused.
 * Not among the limits below, since the file that could raise it would have to be read first.
 */
export const SETTINGS_FILE_BYTES = 1 * MIB;
/** Nesting of a settings file; the deepest real setting needs seven. */
export const SETTINGS_DEPTH = 32;
/** A token set by hand that is shorter can be guessed: it is warned of, and refused where others reach the server. */
export const SHORTEST_TOKEN_CHARS = 16;
/** Longest delay a timer of Node takes; a longer one fires at once. */
export const LONGEST_TIMER_MS = 2_147_483_647;

/** All limits, by name. Names end in their unit: `Ms`, `Bytes`, `Chars`; counts have none. */
export const DEFAULT_LIMITS = {
  // Doors: what a client may send.
  /** A POST body; the Messages API takes more, but a batch of blocks does not need it. */
  bodyBytes: 4 * MIB,
  /** Nesting of any JSON from outside; deeper values overflow recursive readers. */
  jsonDepth: 64,
  /** `tool_use` blocks in one request. */
  batchBlocks: 256,
  /** Length of any id from outside. */
  idChars: 128,
  /** A session's title. */
  titleChars: 500,
  /** A search query, and a message that goes with an answer. */
  queryChars: 10_000,
  /** Issues told of one request that does not fit its schema. */
  requestIssues: 20,
  /** Frames in one page of `GET /sessions/{id}/events`. */
  eventsPage: 1_000,
  /** A request whose headers have not arrived by then is dropped. */
  headersTimeoutMs: 10 * SECOND,
  /** A request whose body has not arrived by then is dropped. */
  bodyTimeoutMs: 15 * SECOND,
  /** How often sockets are looked over for headers and bodies that are late. */
  requestCheckMs: 500,
  /** Sockets open at once: a thousand browsers come back with a socket or two each when a server was restarted. */
  connections: 2_000,
  /** Sockets of one address; 0: no bound of its own, since all who come through a proxy have the proxy's. */
  addressConnections: 0,
  /** Descriptors kept free of sockets where few may be open (`ulimit -n`): for the log, spilled results and children. */
  reservedDescriptors: 32,
  /** When a client that was turned away with 503 or 1001 may try again. */
  retryAfterMs: 2 * SECOND,
  /** How often the lateness of the event loop is looked at. */
  loopCheckMs: 250,
  /** An event loop that stood still for this long is told to the operator. */
  loopStallMs: 1 * SECOND,

  // WebSockets, and the tickets that open them.
  /** One WebSocket message, client to server. */
  webSocketMessageBytes: 1 * MIB,
  /** A new WebSocket says `hello` by then, or it is closed with 4405. */
  helloMs: 5 * SECOND,
  /** Between two pings of an idle WebSocket; two misses end it. */
  webSocketPingMs: 15 * SECOND,
  /** WebSocket messages a connection may have waiting before its socket is paused. */
  inboxMessages: 64,
  /** WebSocket messages a connection may send at once; past it, close 4429. */
  messageBurst: 20_000,
  /** WebSocket messages a second that a connection's burst grows again by. */
  messagesPerSecond: 2_000,
  /**
   * Bytes a WebSocket may hold unsent before its cursor waits, beside what the kernel holds. Small frames cost the
   * memory of some five times their text.
   */
  socketBufferBytes: 16 * KIB,
  /** A reader that needs this long for what a WebSocket holds is not sent the progress it missed: a `gap` says so. */
  laggingReaderMs: 1 * SECOND,
  /** A reader that does not drain for this long is closed with 4008 and may resume. */
  slowReaderMs: 30 * SECOND,
  /** A ticket for a browser's WebSocket lives this long. */
  ticketMs: 30 * SECOND,
  /** Tickets of one principal waiting to be used: one for each socket that may be open. */
  tickets: 2_000,

  // Connections that have not shown a credential yet.
  /** Sockets without a good credential that are older than one look (`requestCheckMs`). */
  unauthenticatedConnections: 32,
  /** A socket that has shown no good credential by then is closed. */
  unauthenticatedMs: 5 * SECOND,
  /** Bad credentials one address may send at once; past it, 429. */
  badCredentialBurst: 2_000,
  /** Bad credentials a second that its burst grows again by. */
  badCredentialsPerSecond: 100,
  /** Addresses whose bad credentials are counted; the one seen first is forgotten for a new one. */
  badCredentialAddresses: 4_096,

  // Principals: what one of them may use, all its connections together; 0: no bound.
  /** HTTP requests, and WebSocket messages that ask for something, a second. */
  requestsPerSecond: 0,
  /** Those it may send at once; 0: as many as a second brings. */
  requestBurst: 0,
  /** Calls accepted and not yet yielded, in all its sessions. */
  callsAtOnce: 0,
  /** Sessions in memory that run, wait or are watched; idle ones are put to sleep first. */
  sessionsInUse: 0,
  /** WebSockets open. */
  streams: 0,

  // Sessions: how many are at hand.
  /** Sessions in memory at once; the idle ones beyond it are put to sleep. */
  openSessions: 2_000,
  /** A session that nobody uses sleeps after this long: it leaves memory, and any access wakes it. */
  idleSessionMs: 5 * MINUTE,
  /** How often it is looked which sessions may sleep. */
  idleLookMs: 5 * SECOND,
  /** Turns and calls of a session that stay in memory when they are over, half a KiB each; older ones are looked up on disk. */
  keptRecords: 2_048,
  /** Sessions in one page of `GET /sessions`. */
  listedSessions: 200,

  // Calls: what may run.
  /** Calls running at once in one session (`GAUNTLET_MAX_TOOL_USE_CONCURRENCY`). */
  toolUseConcurrency: 10,
  /** Calls accepted and not yet yielded in one session. */
  sessionCalls: 4_096,
  /** Calls inside calls: an agent that runs batches of batches has three levels, and a tool that calls itself ends here. */
  innerCallDepth: 4,
  /** Inner calls that one call runs at once; each level of nesting multiplies it. */
  innerCallConcurrency: 10,
  /** Inner calls that one call makes in all: a loop that never ends fills no log. */
  innerCalls: 10_000,
  /** Child sessions that one call has open at once; each is a session in memory, with a log of its own. */
  childSessions: 16,
  /** An open turn whose feeder is gone ends after this long. */
  turnFeederMs: 30 * SECOND,
  /** A cancelled tool that does not stop is given up after this long. */
  abandonMs: 10 * SECOND,
  /** Progress of one call that its own result may still draw; older pieces are dropped. */
  progressKept: 50,
  /** SIGTERM to SIGKILL, and TERM to KILL of a child's group. */
  killGraceMs: 1 * SECOND,
  /** Running calls may finish for this long after SIGTERM. */
  drainMs: 30 * SECOND,
  /** Between two looks whether they have. */
  drainLookMs: 20,

  // Permissions.

  // Questions, and who is told of them.
  /** Questions open at once in one session. */
  openQuestions: 256,
  /** An open question is answered "no" after this long. */
  askTimeoutMs: 10 * MINUTE,
  /** Longest that a request may let its questions stand. */
  askTimeoutMaxMs: 24 * 60 * MINUTE,
  /** Tries to tell one webhook of one question. */
  webhookTries: 4,
  /** What the classifier of mode "auto" may take for one answer. */
  classifierMs: 10 * SECOND,

  // Edits shown in questions.

  // Hooks.
  /** A hook whose setting does not say may take this long. */
  hookMs: 60 * SECOND,

  // Results: what a model is sent.
  /** Text of one result; more is spilled to a file. */
  resultChars: 50_000,
  /** Text of all results of one turn together. */
  turnResultChars: 200_000,
  /** What a model sees of a spilled result. */
  previewChars: 2_000,
  /** Ceiling of any text, bytes. */
  textBytes: 400_000,
  /** Hits of one transcript search. */
  searchHits: 100,
  /** A page of `GET …/results/{id}`. */
  resultPageChars: 200_000,
  /** Bytes of one call's output that go to its spill file; past it the call ends with `output_limit`. */
  spillBytes: 64 * MIB,

  // Frames: what a viewer is sent meanwhile.
  /** Partial inputs of one streaming block: one frame each this often at most. */
  partialInputMs: 100,
  /** Longest string in a partial input. */
  partialStringChars: 2_000,
  /** Raw JSON of one block that is still streaming in. */
  partialInputBytes: 1 * MIB,

  // Files: what Read, Edit, Write, Glob and Grep hold and hand out.
  /** Files a session remembers having read. */
  readRecords: 1_000,
  /** Bytes a file may have for its state before a change to be kept; beyond it the change cannot be undone. */
  historyFileBytes: 16 * MIB,
  /** Bytes kept for undo in one session, equal contents counted once. */
  historySessionBytes: 256 * MIB,
  /** Turns of the event loop in which rows on their way land, before an undo is refused. */
  undoSettlingTurns: 20,
  /** Changes in one page of `GET …/changes`. */
  changesPage: 100,
  /** A file larger than this is listed without a diff. */
  changeDiffBytes: 1 * MIB,
  /** Time all diffs of one page may take; the rest is listed without. */
  changeDiffsMs: 1 * SECOND,
  /** A search ends after this long. */
  grepMs: 60 * SECOND,
  /** Names Glob looks at in one walk. */
  globNames: 500_000,

  // Child processes.
  /** Shells kept started ahead by the process host, some 3 MiB each. */
  warmShells: 3,
  /** Children of the process host running at once, all sessions together. */
  hostedChildren: 256,

  // The jail of commands that only read.
  /** Processes a jailed command may have beside all that ran on the machine when it began. */
  jailProcesses: 256,
  /** Memory of its own that each process in a jail may have. */
  jailMemoryBytes: 2_048 * MIB,
  /** Processor time of each process in a jail. */
  jailCpuMs: 10 * MINUTE,
  /** Length of each file that it writes to its temporary folder. */
  jailFileBytes: 256 * MIB,
  /**
   * Names looked at below the working directories for what a deny rule hides; beyond it a command is asked about. As
   * many are looked at below the system's folders; beyond it the rule hides nothing there.
   */
  jailScanNames: 50_000,

  // The sandbox.
  /** What a sandboxed command may write to /tmp, again to /var/tmp and to /dev/shm; all are memory. */
  sandboxTemporaryBytes: 512 * MIB,

  // The shell and tasks that run on.
  /** How long a command may take when its call does not say. */
  commandMs: 2 * MINUTE,
  /** The longest a call may ask for. */
  commandMostMs: 10 * MINUTE,
  /** Background tasks running at once in one session. */
  backgroundTasks: 16,

  // Pool.

  // Lists.

  // Agents: what one of them may use, and its model.
  /** Messages of its model. An agent that explores takes 5 to 30. */
  agentTurns: 200,
  /** Tokens of all its requests and replies together, as the provider counts them. */
  agentTokens: 10_000_000,
  /** An agent ends after this long. */
  agentMs: 60 * MINUTE,
  /** What an agent is told to do. */
  agentPromptChars: 200_000,
  /** Agents that a team has had. */
  teamMembers: 64,
  /** Text of one message between agents. */
  agentMessageChars: 20_000,
  /** Messages that wait for one agent. */
  mailboxMessages: 200,
  /** Tokens of one message that a provider is asked for at most, over the Messages API. */
  modelReplyTokens: 16_384,
  /** Text of one message, inputs of calls included. */
  modelReplyChars: 2 * MIB,
  /** A model that sends nothing for this long has failed. */
  modelSilenceMs: 3 * MINUTE,
  /** The file of one type of agent. */
  agentTypeBytes: 64 * KIB,
  /** Types of agents from files. */
  agentTypes: 100,

  // MCP servers and plugins.
  /** Connecting and listing tools, one try. */
  mcpConnectMs: 30 * SECOND,
  /** A call without an answer or progress for this long ends with `timeout`. */
  mcpCallIdleMs: 5 * MINUTE,
  /** A call ends with `timeout` after this long, however much progress it makes. */
  mcpCallMs: 60 * MINUTE,
  /** One message from an MCP server; a larger one ends the connection. */
  mcpMessageBytes: 10 * MIB,
  /** First wait before connecting again; it doubles with each failure. */
  mcpRetryMs: 500,
  /** Failures in a row after which a server is left alone until someone asks for it. */
  mcpRetries: 8,

  // The log.
  /** Bytes of recent rows kept in memory for readers that are nearly up to date. */
  logTailBytes: 16 * MIB,
  /** Frames a reader is handed at once. */
  logPage: 500,
  /** Rows fetched from the disk for one page. */
  logPageRows: 64,
  /** Text of one page, about: what a reader that has stopped holds. A row by itself may hold a result of 400,000 bytes. */
  logPageChars: 32_000,
  /** Sessions whose head is kept in memory; one more is read from the disk again when it is needed. */
  logHeads: 20_000,
  /** The log's file; past it appends are refused until sessions are removed. */
  logFileBytes: 64 * 1_024 * MIB,
  /** Frames that must not be lost and that the disk refused are tried again after this long; five times it each time. */
  logRetryMs: 50,
  /** Longest wait before such a try. */
  logRetryMaxMs: 1 * SECOND,
  /** A second server on one data directory waits this long for the lock. */
  dataLockMs: 10 * SECOND,
  /** Between two tries for that lock. */
  dataLockPollMs: 50,

  // Retention.
  /** Frames older than this go as far as no session needs them, and sessions without a younger one go whole. */
  sessionDays: 30,
  /** Text of one session's frames, about; past it its oldest go. */
  sessionLogBytes: 1_024 * MIB,
  /** The log and the folders of sessions together; past it sessions go, the longest unused first. */
  dataBytes: 32 * 1_024 * MIB,
  /** How often it is looked what may go. */
  retentionMs: 5 * MINUTE,
  /** Sessions that are looked at in one turn of the event loop. */
  retentionPage: 100,
  /** Rows that are deleted in one turn of the event loop: what an append may have to wait for. */
  logSweepRows: 256,
  /** Their text. */
  logSweepBytes: 4 * MIB,

  // What sessions of one principal share: task lists, mailboxes.
  /** Entries of one principal. */
  sharedEntries: 10_000,
  /** One value, as JSON: it is read and written whole, on the event loop. */
  sharedValueBytes: 256 * KIB,
  /** All keys and values of one principal together. */
  sharedBytes: 16 * MIB,

  // The audit trail.
  /** A file of it; then the next one is begun. */
  auditFileBytes: 32 * MIB,
  /** Older files of it that are kept. */
  auditFiles: 8,
  /** Sessions whose calls under way are remembered for their lines. */
  auditSessions: 4_096,
  /** Rules of one change that are named; more are counted. */
  auditRules: 100,
} as const satisfies Record<string, number>;

/** Every limit by name; the values are numbers, the keys those of `DEFAULT_LIMITS`. */
export type Limits = { readonly [Name in keyof typeof DEFAULT_LIMITS]: number };
