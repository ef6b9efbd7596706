/**
 * How one run of a hook ended, before anybody asks what that means.
 */

/** `ended`: it came to its own end, whatever it thinks. `broken`: it did not, and nobody knows what it would have said. */
export type HookEnd =
  | { readonly kind: 'ended'; readonly exitCode: number; readonly stdout: string; readonly stderr: string }
  /** `why` is the end of a sentence: `was still running after 60 s`. */
  | { readonly kind: 'broken'; readonly why: string };

/** What one run is given. */
export interface HookRun {
  /** JSON: for the standard input, or the body. */
  readonly payload: string;
  /** Absolute. */
  readonly cwd: string;
  /** Absolute; where the session began. */
  readonly projectFolder: string;
  readonly timeoutMs: number;
  readonly outputBytes: number;
  readonly signal: AbortSignal;
}
