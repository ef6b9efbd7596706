/**
 * Parses the command line: one command, its options, its help.
 */
import { parseArgs, type ParseArgsConfig } from 'node:util';

/** Commands, the default one first. */
export const COMMANDS = [
  'serve',
  'console',
  'status',
  'sessions',
  'watch',
  'answer',
  'tools',
  'exec',
  'mcp',
  'token',
  'mcp status',
  'mcp login',
  'mcp logout',
] as const;

/** Name of a command. */
export type CommandName = (typeof COMMANDS)[number];

/** Parsed command line. */
export type CommandLine =
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'version' }
  | {
      readonly kind: 'command';
      readonly command: CommandName;
      /** Options by name; a switch is `true` if present. */
      readonly options: Readonly<Record<string, string | true>>;
      /** Repeatable options by name. */
      readonly lists: Readonly<Record<string, readonly string[]>>;
      readonly operands: readonly string[];
      /** Options as the environment variables they set, which override the real ones. */
      readonly environment: Readonly<Record<string, string>>;
    };

/** Invalid command line; the process exits with 64 (`EX_USAGE` of sysexits.h). */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

interface Option {
  /** Placeholder in `--name VALUE`; absent for a switch. */
  readonly value?: string;
  readonly help: string;
  /** Environment variable that it sets. */
  readonly variable?: string;
  /** True if it may be repeated. */
  readonly isList?: boolean;
}

interface Command {
  readonly summary: string;
  /** An operand in brackets may be left out. */
  readonly operands: readonly string[];
  readonly options: Readonly<Record<string, Option>>;
}

const DATA_OPTIONS = {
  config: { value: 'FILE', help: 'settings file', variable: 'GAUNTLET_CONFIG' },
  'data-dir': { value: 'FOLDER', help: 'logs of sessions and the token', variable: 'GAUNTLET_DATA_DIR' },
} as const satisfies Command['options'];
const CLIENT_OPTIONS = {
  url: { value: 'URL', help: 'the server (default: the address in the settings)' },
  port: { value: 'PORT', help: 'its port on this machine', variable: 'GAUNTLET_PORT' },
  ...DATA_OPTIONS,
} as const satisfies Command['options'];

const TABLE: Readonly<Record<CommandName, Command>> = {
  serve: {
    summary: 'start the server (the default)',
    operands: [],
    options: {
      host: { value: 'ADDRESS', help: 'listen here (default 127.0.0.1)', variable: 'GAUNTLET_HOST' },
      port: { value: 'PORT', help: 'listen here (default 4747; 0: any free one)', variable: 'GAUNTLET_PORT' },
      workspace: { value: 'FOLDER', help: 'where sessions work (default: this one)', variable: 'GAUNTLET_WORKSPACE' },
      ...DATA_OPTIONS,
      'log-level': { value: 'LEVEL', help: 'trace, debug, info, warn, error, silent', variable: 'GAUNTLET_LOG_LEVEL' },
      settings: { value: 'FILE', help: 'a file with "permissions" for every session: rules and folders' },
      allow: { value: 'RULE', help: 'a permission rule for every session; again for more', isList: true },
      ask: { value: 'RULE', help: 'likewise', isList: true },
      deny: { value: 'RULE', help: 'likewise', isList: true },
      simple: { help: 'only the three simple tools', variable: 'GAUNTLET_SIMPLE' },
    },
  },
  console: {
    summary: 'print an address that signs a browser in to the console',
    operands: [],
    options: {
      ...CLIENT_OPTIONS,
      principal: { value: 'NAME', help: 'fail unless the token is of this principal' },
      revoke: { help: 'sign out every browser of the principal instead' },
    },
  },
  status: {
    summary: 'print how the running server is',
    operands: [],
    options: { ...CLIENT_OPTIONS, json: { help: 'as JSON' } },
  },
  sessions: {
    summary: 'print your sessions on the running server',
    operands: [],
    options: {
      ...CLIENT_OPTIONS,
      search: { value: 'TEXT', help: 'those whose title, folder or id holds it' },
      all: { help: 'archived ones too' },
      json: { help: 'as JSON' },
    },
  },
  watch: {
    summary: 'follow a session: calls, output, questions',
    operands: ['SESSION'],
    options: { ...CLIENT_OPTIONS, all: { help: 'from its beginning (default: the latest first)' } },
  },
  answer: {
    summary: 'list open questions, or answer one: allow or deny',
    operands: ['[REQUEST]', '[allow|deny]'],
    options: {
      ...CLIENT_OPTIONS,
      message: { value: 'TEXT', help: 'why, for the model' },
      json: { help: 'list as JSON' },
    },
  },
  tools: {
    summary: 'print the tools of the running server',
    operands: [],
    options: { ...CLIENT_OPTIONS, json: { help: 'as JSON, with schemas' } },
  },
  exec: {
    summary: 'run one tool on the running server',
    operands: ['TOOL', 'INPUT'],
    options: {
      ...CLIENT_OPTIONS,
      session: { value: 'ID', help: 'run in this session (default: a new one)' },
      'on-ask': { value: 'wait|deny', help: 'what a permission question does (default deny)' },
      json: { help: 'print the whole reply as JSON' },
    },
  },
  mcp: {
    summary: 'speak MCP over standard input and output; starts the server if none runs',
    operands: [],
    options: {
      ...CLIENT_OPTIONS,
      session: { value: 'ID', help: 'use this session (default: the standing one)' },
      cwd: { value: 'FOLDER', help: 'begin a session in this folder' },
      mode: { value: 'MODE', help: 'begin a session in this mode' },
    },
  },
  token: { summary: 'print the token; create it if it does not exist', operands: [], options: DATA_OPTIONS },
  'mcp status': {
    summary: 'print the MCP servers of the running server, and the logins at them',
    operands: [],
    options: { ...CLIENT_OPTIONS, json: { help: 'as JSON' } },
  },
  'mcp login': { summary: 'log in at an MCP server, in a browser', operands: ['NAME'], options: CLIENT_OPTIONS },
  'mcp logout': { summary: 'log out at an MCP server', operands: ['NAME'], options: CLIENT_OPTIONS },
};

/**
 * Parse a command line.
 *
 * @param words Arguments without the program: `process.argv.slice(2)`.
 * @throws {UsageError} If a command, option or operand is unknown, missing or superfluous.
 */
export function parseCommandLine(words: readonly string[]): CommandLine {
  const [first = '', ...rest] = words;
  if (first === '--version' || first === '-v') return { kind: 'version' };
  if (first === '--help' || first === '-h' || first === 'help') return { kind: 'help', text: generalHelp() };
  const [second = '', ...operands] = rest;
  const both = `${first} ${second}`;
  if (isCommand(both)) return parseCommand(both, operands);
  if (isCommand(first)) return parseCommand(first, rest);
  if (first === '' || first.startsWith('-')) return parseCommand('serve', words);
  throw new UsageError(`There is no command "${first}"; the commands are ${COMMANDS.join(', ')}`);
}

function parseCommand(name: CommandName, words: readonly string[]): CommandLine {
  const command = TABLE[name];
  const { values, lists, positionals } = parseWords(name, command, words);
  if (values['help'] !== undefined) return { kind: 'help', text: commandHelp(name, command) };
  const required = command.operands.filter((operand) => !operand.startsWith('['));
  if (positionals.length < required.length || positionals.length > command.operands.length) {
    const wanted = command.operands.length === 0 ? 'takes no operands' : `takes ${command.operands.join(' and ')}`;
    throw new UsageError(`"gauntlet ${name}" ${wanted}; see gauntlet ${name} --help`);
  }
  const environment: Record<string, string> = {};
  for (const [option, { variable }] of Object.entries(command.options)) {
    const value = values[option];
    if (variable !== undefined && value !== undefined) environment[variable] = value === true ? '1' : value;
  }
  return { kind: 'command', command: name, options: values, lists, operands: positionals, environment };
}

function parseWords(name: CommandName, command: Command, words: readonly string[]) {
  const options: NonNullable<ParseArgsConfig['options']> = { help: { type: 'boolean', short: 'h' } };
  for (const [option, { value, isList = false }] of Object.entries(command.options)) {
    options[option] = { type: value === undefined ? 'boolean' : 'string', multiple: isList };
  }
  try {
    const parsed = parseArgs({ args: [...words], options, allowPositionals: true });
    const given = Object.entries(parsed.values);
    const values = given.filter((entry): entry is [string, string | true] => !Array.isArray(entry[1]));
    const lists = given.filter((entry): entry is [string, string[]] => Array.isArray(entry[1]));
    return {
      values: Object.fromEntries(values),
      lists: Object.fromEntries(lists),
      positionals: parsed.positionals,
    };
  } catch (error) {
    const [reason = ''] = (error as Error).message.split('. ');
    throw new UsageError(`${reason}; see gauntlet ${name} --help`);
  }
}

function generalHelp(): string {
  return [
    'gauntlet: executes tool calls for AI agents over HTTP and WebSocket',
    '',
    'Usage: gauntlet [COMMAND] [OPTIONS]',
    '',
    ...columns(COMMANDS.map((name) => [[name, ...TABLE[name].operands].join(' '), TABLE[name].summary])),
    '',
    'gauntlet COMMAND --help lists the options of a command; gauntlet --version prints the version.',
  ].join('\n');
}

function commandHelp(name: CommandName, command: Command): string {
  const options = Object.entries({ ...command.options, help: { help: 'this text' } }) as [string, Option][];
  return [
    `gauntlet ${name}: ${command.summary}`,
    '',
    `Usage: ${['gauntlet', name, ...command.operands, '[OPTIONS]'].join(' ')}`,
    ...(name === 'exec' ? ['', `Example: gauntlet exec TOOL '{"key": "value"}'; INPUT "-" reads standard input`] : []),
    '',
    ...columns(
      options.map(([option, { value, help, variable }]) => [
        `--${option}${value ? ` ${value}` : ''}`,
        variable ? `${help} [${variable}]` : help,
      ]),
    ),
  ].join('\n');
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}

function isCommand(word: string): word is CommandName {
  return (COMMANDS as readonly string[]).includes(word);
}
