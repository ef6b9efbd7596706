/**
 * The `languageServers` setting: the programs that LSP asks about code, by name.
 */
import * as z from 'zod';
import { section } from './section.ts';

const text = z.string().min(1, 'must not be empty');

const extension = z
  .string()
  .regex(/^\.?[\w+-]+(?:\.[\w+-]+)*$/, 'must be the end of a file name, such as ".ts"')
  .transform((end) => `.${end.replace(/^\./, '').toLowerCase()}`);

/** Schema of the setting. */
export const languageServers = z.record(
  text,
  section({
    command: text,
    args: z.array(z.string()).optional(),
    env: z.record(z.string().regex(/^[A-Za-z_]\w*$/, 'must be the name of a variable'), z.string()).optional(),
    extensions: z.array(extension).min(1, 'must name at least one'),
    languageId: text.optional(),
    initializationOptions: z.json().optional(),
    settings: z.record(z.string(), z.json()).optional(),
    readFolders: z.array(text).optional(),
  }),
);

/** One language server. */
export interface LanguageServerSettings {
  /** Absolute path, or a name on `PATH`. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Ends of file names, in lower case, each with its dot. */
  readonly extensions: readonly string[];
  /** Language id of the protocol; absent: derived from the extension. */
  readonly languageId?: string;
  readonly initializationOptions?: unknown;
  /** Answers to the server's own questions about its configuration, by section. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Absolute paths of folders outside the workspace that it reads: its own program, a package cache. */
  readonly readFolders: readonly string[];
}

/** Fill in the defaults, and make paths absolute. */
export function languageServerSettings(
  servers: z.output<typeof languageServers> = {},
  resolvePath: (path: string) => string,
): Readonly<Record<string, LanguageServerSettings>> {
  return Object.fromEntries(
    Object.entries(servers).map(
      ([name, { command, args = [], env = {}, settings = {}, readFolders = [], ...rest }]) => [
        name,
        {
          ...rest,
          command: /[/~]/.test(command) ? resolvePath(command) : command,
          args,
          env,
          settings,
          readFolders: readFolders.map(resolvePath),
        },
      ],
    ),
  );
}
