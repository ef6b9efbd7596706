#!/usr/bin/env node
/**
 * The command line: `gauntlet serve | console | status | sessions | watch | answer | tools | exec | mcp | token`, and `gauntlet mcp status | login | logout`.
 *
 * Each command is loaded on demand, so that it does not pay for the others.
 */
import { SETTINGS_EXIT_CODE, SettingsError } from '../config/settings-error.ts';
import packageFile from '../package.json' with { type: 'json' };
import { isGauntletError } from '../src/base/errors.ts';
import { parseCommandLine, UsageError, type CommandLine } from './command-line.ts';
import { environmentWarnings, takeEnvironment } from './own-environment.ts';
import { safeText } from './terminal-text.ts';

const USAGE_EXIT_CODE = 64;
const PARENT_WATCH_MS = 500;

/** A parsed command. */
type ParsedCommand = Extract<CommandLine, { kind: 'command' }>;

try {
  // A reader that closes early (`gauntlet tools | head`) is not a failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
  process.exitCode = await run(parseCommandLine(process.argv.slice(2)));
} catch (error) {
  process.stderr.write(`gauntlet: ${safeText(messageOf(error))}\n`);
  // At once: after a partial start, open sockets and timers would keep the process alive.
  process.exit(exitCodeOf(error));
}

async function run(line: CommandLine): Promise<number> {
  if (line.kind === 'command') return runCommand(line);
  process.stdout.write(`${line.kind === 'version' ? packageFile.version : line.text}\n`);
  return 0;
}

async function runCommand(line: ParsedCommand): Promise<number> {
  const given = takeEnvironment();
  const environment = { ...given, ...line.environment };
  switch (line.command) {
    case 'serve': {
      const { loadSettings } = await import('../config/settings.ts');
      // Validated before the rest is loaded, so that a wrong setting is reported at once.
      const { settings: rulesFile } = line.options;
      const named = typeof rulesFile === 'string' ? { rulesFile } : {};
      const settings = loadSettings({ environment, rules: line.lists, ...named });
      const warnings = [...settings.warnings, ...environmentWarnings(given)];
      if (given['npm_command'] === 'exec') endWithParent();
      // For whatever is started from here on: children, the process host, the sandbox.
      if (settings.searchPath !== undefined) process.env['PATH'] = settings.searchPath;
      // It gets ready while the server is loaded.
      const host = (await import('../src/process/host-connection.ts')).startHost();
      await (await import('./serve.ts')).serve({ ...settings, warnings }, host);
      return 0;
    }
    case 'console':
      return (await import('./commands/console.ts')).openConsole({ ...line, environment });
    case 'status':
      return (await import('./commands/status.ts')).printServerStatus({ ...line, environment });
    case 'sessions':
      return (await import('./commands/sessions.ts')).printSessions({ ...line, environment });
    case 'watch':
      return (await import('./commands/watch.ts')).watchSession({ ...line, environment });
    case 'answer':
      return (await import('./commands/answer.ts')).answerQuestion({ ...line, environment });
    case 'tools':
      return (await import('./commands/tools.ts')).printTools({ ...line, environment });
    case 'exec':
      return (await import('./commands/exec.ts')).execute({ ...line, environment });
    case 'mcp':
      return (await import('./commands/mcp.ts')).serveStdio({ ...line, environment });
    case 'token':
      return (await import('./commands/token.ts')).printToken(environment);
    case 'mcp status':
      return (await import('./commands/mcp-logins.ts')).printStatus({ ...line, environment });
    case 'mcp login':
      return (await import('./commands/mcp-logins.ts')).logIn({ ...line, environment });
    case 'mcp logout':
      return (await import('./commands/mcp-logins.ts')).logOut({ ...line, environment });
  }
}

/** npx passes a signal to its shell alone; the server would go on unnoticed, and hold its data directory. */
function endWithParent(): void {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, PARENT_WATCH_MS).unref();
}

/** npm leaves native parts out with `--omit=optional`; a folder of another platform has those of that one. */
function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const [, missing] = /^Cannot find module '(@libsql\/[^']+)'/.exec(message) ?? [];
  if (missing === undefined) return message;
  return `Cannot start: the native part "${missing}" is not installed. Install again with "npm install --include=optional"`;
}

function exitCodeOf(error: unknown): number {
  if (error instanceof SettingsError || isGauntletError(error, 'invalid_setting')) return SETTINGS_EXIT_CODE;
  return error instanceof UsageError ? USAGE_EXIT_CODE : 1;
}
