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

/** One field of a form. */
export interface FormField {
  /** Key of its value in the answer. */
  readonly name: string;
  readonly label: string;
  readonly description?: string;
  readonly type: 'text' | 'number' | 'boolean' | 'choice';
  /** Of type `choice`: what there is to choose. */
  readonly choices?: readonly { readonly value: string; readonly label: string; readonly description?: string }[];
  /** Of type `choice`: several may be chosen, and the value is a list. */
  readonly multiple?: boolean;
  readonly required?: boolean;
  /** The value it begins with. */
  readonly value?: string | number | boolean | readonly string[];
}

/**
 * What a question asks for beside yes and no. The answer is `updated_input`: the input of the call with an object of the
 * fields' values under `key`.
 */
export interface DisplayForm {
  readonly kind: 'form';
  readonly key: string;
  readonly fields: readonly FormField[];
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
  | { readonly kind: 'progress'; readonly label: string; readonly value?: number }
  | DisplayForm;

/** A drawn call, progress, result or question. */
export interface Display {
  readonly title: string;
  readonly subtitle?: string;
  readonly tone?: 'info' | 'success' | 'warning' | 'danger';
  readonly blocks: readonly DisplayBlock[];
  /** Calls of one tool that stand side by side may share one. */
  readonly group?: { readonly key: string; readonly title: string };
}
