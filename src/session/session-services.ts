/**
 * What every session is handed: the log, the pools, the disk, and the numbers. Nothing is shared
 * between sessions but these.
 */
import type { Limits } from '../../config/limits.ts';
import type { SpilledText } from '../wire/blocks.ts';
import type { OpenedFrame, PermissionRequestFrame, PermissionResolvedFrame } from '../wire/frames.ts';
import type { InnerBlock, InnerCallOptions, InnerResult } from '../tool/inner-call.ts';
import type { LocatePath } from '../tool/located-path.ts';
import type { PermissionMode, RuleSet, ToolPermissionContext, WorkspaceSettings } from '../wire/permission-context.ts';
import type { ReadState } from '../tool/session-context.ts';
import type { FileHistory } from '../files/history.ts';
import type { Hooks } from '../hooks/hooks.ts';
import type { PermissionClassifier } from '../permissions/classifier.ts';
import type { Answered, QuestionAnswer } from '../permissions/questions.ts';
import type { TwoPersonRules } from '../permissions/two-person.ts';
import type { FrameLog } from '../log/frame-log.ts';
import type { OwnTools, PoolContext } from '../pool/get-tools.ts';
import type { AbortCode } from '../base/abort-tree.ts';
import type { ToolPool } from '../pool/tool-pool.ts';

/** The setting `siblingAbort`: which failed calls cancel their siblings. */
export type SiblingAbort = 'bash' | 'mutating-bash' | 'never';

/** What a session's own part of its first permission context is made of. */
export interface PermissionSeed {
  readonly mode?: PermissionMode;
  readonly rules?: Partial<RuleSet>;
  /** What a skill or slash command brought. */
  readonly commandRules?: RuleSet;
  readonly additionalDirectories?: readonly string[];
  /** What the settings files of trusted folders said when the session began. */
  readonly workspaceSettings?: readonly WorkspaceSettings[];
  /** True: from the log, and what is no longer allowed is left out. Else it is asked for, and refused. */
  readonly isLogged?: boolean;
}

/** A part of a text, by UTF-16 offset. */
export interface TextRange {
  readonly offsetChars: number;
  readonly limitChars: number;
}

/** A question of a child session, as its parent logs it. */
export type ClimbingFrame = PermissionRequestFrame | PermissionResolvedFrame;

/** What a child session has of the call that opened it, while that runs. */
export interface ParentLink {
  /** Calls and sessions above its calls. */
  readonly depth: number;
  /** Somebody watches the parent who may answer. */
  isWatched(): boolean;
  /** A question of the child, or of a child of it, was asked or has ended. */
  climb(frame: ClimbingFrame): void;
}

/** A child session, as the call that opened it sees it. */
export interface RunningChild {
  readonly sessionId: string;
  /** Takes a block through the child; never rejects. */
  run(block: InnerBlock, options: InnerCallOptions & { readonly askTimeoutMs?: number }): Promise<InnerResult>;
  /** The parent's permissions have changed. */
  follow(before: ToolPermissionContext, after: ToolPermissionContext): void;
  /** @throws {GauntletError} As `answerPrompt` */
  answer(requestId: string, answer: QuestionAnswer, by: string): Promise<Answered>;
  /** End what runs in it. @returns When all its frames are on disk; it follows nothing and takes nothing any more. */
  end(code: AbortCode, message: string): Promise<void>;
}

/** What every session is handed. */
export interface SessionServices {
  readonly log: FrameLog;
  readonly limits: Limits;
  /** The names that rules may use: of tools and their aliases, and of MCP servers. */
  readonly toolNames: { readonly tools: readonly string[]; readonly servers: readonly string[] };
  poolFor(context: PoolContext): ToolPool;
  /** The tools that a session asked for when it began; undefined where it takes what there is. */
  ownTools(opened: OpenedFrame): OwnTools | undefined;
  /** Name of the tool that gives deferred schemas, for the text of an invalid input. */
  readonly schemaTool?: string;
  readonly locate: LocatePath;
  /** What files were before this server's sessions changed them, and who did last. */
  readonly history: FileHistory;
  /** Absent where the operator set none. */
  readonly hooks?: Hooks;
  /** Calls that need the yes of two principals; absent where the operator set none. */
  readonly twoPerson?: TwoPersonRules;
  /** What mode `auto` asks before a person; absent: nobody. */
  readonly classifier?: PermissionClassifier;
  /** Begin a child session. @returns Once it is on disk. @throws {GauntletError} `rate_limited`, `log_unavailable` */
  beginChild?(opened: OpenedFrame, linkTo: (child: RunningChild) => ParentLink): Promise<RunningChild>;
  /** Told of each new question once it is on disk. */
  onQuestion?(sessionId: string, question: PermissionRequestFrame): void;
  /** Told once a question is open no more. */
  onQuestionEnd?(requestId: string): void;
  /** Whether a deny rule hides an absolute path from reading. */
  readDenial(permissions: ToolPermissionContext, root: string): (absolutePath: string) => boolean;
  /** The settings' rules and mode with a session's own on top. @throws {GauntletError} `invalid_request`, `forbidden` */
  permissionsFor(principal: string, seed: PermissionSeed): ToolPermissionContext;
  /** Whether a principal's sessions may work in these folders. @throws {GauntletError} `forbidden` where they may not */
  checkFolders(principal: string, folders: readonly string[]): void;
  /** How many more calls a principal may have under way, in all its sessions together; absent: any number. */
  callsLeft?(principal: string): number;
  readonly emptyReadState: ReadState;
  /** Absolute folder for what a session spills; made on first use. */
  sessionFolder(sessionId: string): string;
  /** @throws {GauntletError} `spill_failed` */
  spill(folder: string, name: string, text: string): Promise<SpilledText>;
  readSpilled(path: string, range: TextRange): Promise<{ readonly text: string; readonly totalChars: number }>;
  readonly siblingAbort: SiblingAbort;
  /** A fault of our own, for the operator's log. */
  onFault(error: unknown, what: string): void;
}
