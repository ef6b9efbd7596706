/**
 * Services shared by all sessions: the log, the pools, the disk, and the limits. Sessions share nothing else.
 */
import type { Limits } from '../../config/limits.ts';
import type { JsonObject } from '../base/json.ts';
import type { TraceOrigin } from '../base/tracing.ts';
import type { SpilledText } from '../wire/blocks.ts';
import type { OpenedFrame, PermissionRequestFrame, PermissionResolvedFrame } from '../wire/frames.ts';
import type { InnerBlock, InnerCallOptions, InnerResult, ListedTool } from '../tool/inner-call.ts';
import type { LocatePath } from '../tool/located-path.ts';
import type { PermissionMode, RuleSet, ToolPermissionContext, WorkspaceSettings } from '../wire/permission-context.ts';
import type { ReadState } from '../tool/session-context.ts';
import type { FileHistory } from '../files/history.ts';
import type { Hooks } from '../hooks/hooks.ts';
import type { PermissionClassifier } from '../permissions/classifier.ts';
import type { QuestionAnswer } from '../permissions/questions.ts';
import type { Answered } from '../wire/session-replies.ts';
import type { TwoPersonRules } from '../permissions/two-person.ts';
import type { FrameLog } from '../log/frame-log.ts';
import type { OwnTools, PoolContext } from '../pool/get-tools.ts';
import type { AbortCode } from '../base/abort-tree.ts';
import type { ToolPool } from '../pool/tool-pool.ts';

/** The setting `siblingAbort`: which failed calls cancel their siblings. */
export type SiblingAbort = 'bash' | 'mutating-bash' | 'never';

/** Inputs of a session's own part in its permission context. */
export interface PermissionSeed {
  readonly mode?: PermissionMode;
  readonly rules?: Partial<RuleSet>;
  /** Rules of a skill or slash command. */
  readonly commandRules?: RuleSet;
  readonly additionalDirectories?: readonly string[];
  /** Settings files of trusted folders, as read when the session began. */
  readonly workspaceSettings?: readonly WorkspaceSettings[];
  /**
   * True if it comes from the log: parts that are no longer permitted are left out. Otherwise it is a request, which is
   * rejected.
   */
  readonly isLogged?: boolean;
}

/** A range of a text, by UTF-16 offset. */
export interface TextRange {
  readonly offsetChars: number;
  readonly limitChars: number;
}

/** A question of a child session, as its parent logs it. */
export type ClimbingFrame = PermissionRequestFrame | PermissionResolvedFrame;

/** A child session's link to the call that opened it, while that runs. */
export interface ParentLink {
  /** The session above all others. */
  readonly rootId: string;
  /** Calls and sessions above its calls. */
  readonly depth: number;
  /** Returns true if a client that may answer watches the parent. */
  isWatched(): boolean;
  /** Called when a question of the child, or of its own children, is asked or settled. */
  climb(frame: ClimbingFrame): void;
}

/** A child session, for the call that opened it. */
export interface RunningChild {
  readonly sessionId: string;
  /** As of `ChildSession`. */
  tools(): readonly ListedTool[];
  /** As of `ChildSession`. */
  permissions(): ToolPermissionContext;
  /** Takes a block through the child; never rejects. */
  run(
    block: InnerBlock,
    options: InnerCallOptions & { readonly askTimeoutMs?: number; readonly trace?: TraceOrigin | undefined },
  ): Promise<InnerResult>;
  /** Applies a change of the parent's permissions. */
  follow(before: ToolPermissionContext, after: ToolPermissionContext): void;
  /** @throws {GauntletError} As `answerPrompt` */
  answer(requestId: string, answer: QuestionAnswer, by: string): Promise<Answered>;
  /** End everything that runs in it. @returns Once all its frames are on disk; from then on it accepts nothing. */
  end(code: AbortCode, message: string): Promise<void>;
}

/** Services of every session. */
export interface SessionServices {
  readonly log: FrameLog;
  readonly limits: Limits;
  /** Names that rules may use: tools and their aliases, and `mcp__server` for each MCP server of a folder's sessions. */
  readonly toolNames: {
    readonly tools: readonly string[];
    /** @param folder Real path that the session began in. */
    serversIn(folder: string): readonly string[];
  };
  poolFor(context: PoolContext): ToolPool;
  /** Return the tools that a session requested at its start; `undefined` if it uses all there are. */
  ownTools(opened: OpenedFrame): OwnTools | undefined;
  /** Says why a JSON Schema cannot be that of a session's result. */
  outputSchemaProblem(schema: JsonObject): string | undefined;
  /** Name of the tool that returns deferred schemas, for the text of an invalid input. */
  readonly schemaTool?: string;
  readonly locate: LocatePath;
  /** Contents of files before this server's sessions changed them, and their last writers. */
  readonly history: FileHistory;
  /** Absent if the operator configured none. */
  readonly hooks?: Hooks;
  /** Rules for calls that need two principals; absent if the operator configured none. */
  readonly twoPerson?: TwoPersonRules;
  /** Classifier of mode `auto`, asked before a person; absent: none. */
  readonly classifier?: PermissionClassifier;
  /** Create a child session. @returns Once it is on disk. @throws {GauntletError} `rate_limited`, `log_unavailable` */
  beginChild?(opened: OpenedFrame, linkTo: (child: RunningChild) => ParentLink): Promise<RunningChild>;
  /** Called with each new question once it is on disk. */
  onQuestion?(sessionId: string, question: PermissionRequestFrame): void;
  /** Called when a question is no longer open. */
  onQuestionEnd?(requestId: string): void;
  /** Return a function that reports whether a deny rule hides an absolute path from reading. */
  readDenial(permissions: ToolPermissionContext, root: string): (absolutePath: string) => boolean;
  /**
   * Combine the settings' rules and mode with a session's own.
   *
   * @throws {GauntletError} `invalid_request`, `forbidden`
   */
  permissionsFor(principal: string, seed: PermissionSeed): ToolPermissionContext;
  /**
   * Check that a principal's sessions may work in these folders.
   *
   * @throws {GauntletError} `forbidden` if they may not
   */
  checkFolders(principal: string, folders: readonly string[]): void;
  /** Return how many more calls a principal may have in progress, in all its sessions together; absent: unlimited. */
  callsLeft?(principal: string): number;
  readonly emptyReadState: ReadState;
  /** End the processes that tools keep for a session from one call to the next; absent: there are none. */
  endProcesses?(sessionId: string): Promise<void>;
  /** End the connections that a session in memory has of its own; absent: there are none. */
  endConnections?(sessionId: string): Promise<void>;
  /** Return the absolute path of a session's folder for spilled results; created on first use. */
  sessionFolder(sessionId: string): string;
  /** @throws {GauntletError} `spill_failed` */
  spill(folder: string, name: string, text: string): Promise<SpilledText>;
  readSpilled(path: string, range: TextRange): Promise<{ readonly text: string; readonly totalChars: number }>;
  readonly siblingAbort: SiblingAbort;
  /** Report an internal error to the operator's log. */
  onFault(error: unknown, what: string): void;
}
