/**
 * What a client draws, as data (PROTOCOL section 6).
 *
 * Tools return it from their `render` methods. Every text is plain text; a client never runs it as HTML.
 */

/** One changed region of a file, in unified-diff terms. Lines start with ` `, `+`, `-` or `\`. */
export interface DiffHunk {
  readonly old_start: number;
  readonly old_lines: number;
  readonly new_start: number;
  readonly new_lines: number;
  readonly lines: readonly string[];
}

/** One thing to draw. */
export type DisplayBlock =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'code'; readonly text: string; readonly language?: string }
  | { readonly kind: 'diff'; readonly path: string; readonly hunks: readonly DiffHunk[] }
  | { readonly kind: 'list'; readonly items: readonly string[] }
  | { readonly kind: 'table'; readonly columns: readonly string[]; readonly rows: readonly (readonly string[])[] }
  | { readonly kind: 'image'; readonly media_type: string; readonly data: string }
  | { readonly kind: 'link'; readonly href: string; readonly text: string }
  | { readonly kind: 'progress'; readonly label: string; readonly value?: number };

/** A drawn call, progress, result or question. */
export interface Display {
  readonly title: string;
  readonly subtitle?: string;
  readonly tone?: 'info' | 'success' | 'warning' | 'danger';
  readonly blocks: readonly DisplayBlock[];
  /** Calls of one tool that stand side by side may share one. */
  readonly group?: { readonly key: string; readonly title: string };
}
