/**
 * Types of one run of a hook.
 */

/** `ended`: the hook finished, whatever its answer. `broken`: it did not, and its answer is unknown. */
export type HookEnd =
  | { readonly kind: 'ended'; readonly exitCode: number; readonly stdout: string; readonly stderr: string }
  /** `why` continues a sentence: `was still running after 60 s`. */
  | { readonly kind: 'broken'; readonly why: string };

/** Parameters of one run. */
export interface HookRun {
  /** JSON for the standard input or the request body. */
  readonly payload: string;
  /** Absolute path. */
  readonly cwd: string;
  /** Absolute path of the folder in which the session began. */
  readonly projectFolder: string;
  readonly timeoutMs: number;
  readonly outputBytes: number;
  readonly signal: AbortSignal;
}
