/**
 * Reads the files `.mcp.json` of trusted folders.
 */
import { join, resolve } from 'node:path';
import { SETTINGS_FILE_BYTES } from '../../config/limits.ts';
import { mcpServerEntries } from '../../config/settings/mcp-servers.ts';
import { parseSettingsText } from '../../config/settings/settings-file.ts';
import { errorMessage } from '../base/errors.ts';
import { readSmallFile } from '../files/open-checked.ts';
import { foldersAround, realFolders } from '../files/real-folders.ts';
import { resolveRealPath } from '../files/real-path.ts';
import type { FolderServer } from './connect-tool.ts';
import type { McpEnvironment } from './environment.ts';
import type { McpServerSettings } from './server-settings.ts';
import { visibleLine } from './visible-text.ts';

/** File of a folder. */
const FILE = '.mcp.json';

/** Servers of one session. */
const MAX_SERVERS_OF_SESSION = 16;

/** Entries of one file that are read; a further one has no effect. */
const MAX_ENTRIES = 100;

/** Faults that are told of one file, and the longest, in characters; a file may have thousands. */
const MAX_WARNINGS = 20;
const WARNING_CHARS = 1_000;

/** Longest name of a server, in characters. */
const MAX_NAME_CHARS = 100;

/** Longest definition, in characters of JSON: a person reads it whole. */
const MAX_DEFINITION_CHARS = 4_000;

/** Folders whose files are read, and who is told of faults. */
export interface FolderFileOptions extends Pick<McpEnvironment, 'onNotice'> {
  /** The setting `trustedWorkspaces`. */
  readonly trusted: readonly string[];
  /** Names of the operator's servers, which win. */
  readonly taken: readonly string[];
}

/**
 * Return the names of the servers of the trusted folders around a folder, for rules; faults are told of where the servers
 * are used.
 *
 * @param folder Real path. Absent: those of all trusted folders.
 */
export function folderServerNames(options: Omit<FolderFileOptions, 'onNotice'>, folder?: string): readonly string[] {
  const quiet = { ...options, onNotice: () => undefined };
  const folders = folder === undefined ? realFolders(options.trusted) : [folder];
  return [...new Set(folders.flatMap((each) => readFolderServers(each, quiet).map(({ name }) => name)))];
}

/** Read the servers of the trusted folders around a session's folder; of those with one name, the innermost. */
export function readFolderServers(
  sessionFolder: string,
  { trusted, taken, onNotice }: FolderFileOptions,
): readonly FolderServer[] {
  const warn = (folder: string, why: string) =>
    onNotice('warning', 'mcp_folder_file', visibleLine(`"${join(folder, FILE)}": ${why}`, WARNING_CHARS));
  const found = new Map<string, FolderServer>();
  const folders = [...foldersAround(trusted, sessionFolder)].sort((one, other) => one.length - other.length);
  for (const folder of folders) {
    const warnings: string[] = [];
    try {
      for (const server of serversIn(folder, taken, (why) => void warnings.push(why))) found.set(server.name, server);
    } catch (error) {
      warnings.push(errorMessage(error));
    }
    for (const why of warnings.slice(0, MAX_WARNINGS)) warn(folder, why);
    if (warnings.length > MAX_WARNINGS) warn(folder, `and ${warnings.length - MAX_WARNINGS} more faults`);
  }
  const servers = [...found.values()];
  if (servers.length > MAX_SERVERS_OF_SESSION)
    warn(sessionFolder, `only the first ${MAX_SERVERS_OF_SESSION} servers are used`);
  return servers.slice(0, MAX_SERVERS_OF_SESSION);
}

/** @throws If the file cannot be used at all. */
function serversIn(folder: string, taken: readonly string[], warn: (why: string) => void): readonly FolderServer[] {
  const path = join(folder, FILE);
  const found = resolveRealPath(path);
  if ('refusal' in found) throw new Error(found.refusal);
  if (found.stats === undefined) return [];
  if (found.real !== path) throw new Error('it is a link');
  const text = readSmallFile(found.real, path, SETTINGS_FILE_BYTES).toString('utf8');
  const file = parseSettingsText('The file', path, text);
  const { mcpServers } = (file ?? {}) as { readonly mcpServers?: unknown };
  if (typeof mcpServers !== 'object' || mcpServers === null) throw new Error('it has no "mcpServers"');
  const entries = Object.entries(mcpServers);
  if (entries.length > MAX_ENTRIES) warn(`only the first ${MAX_ENTRIES} of ${entries.length} entries are read`);
  const read = Object.fromEntries(entries.slice(0, MAX_ENTRIES));
  const { servers, warnings } = mcpServerEntries({ mcpServers: read }, folder);
  warnings.forEach(warn);
  return Object.entries(servers).flatMap(([name, entry]) => {
    if (entry.type === 'unusable' || entry.disabled === true) return [];
    const settings = 'url' in entry ? entry : { ...entry, cwd: resolve(folder, entry.cwd ?? '.') };
    const refusal = refusalOf(name, settings, taken);
    if (refusal !== undefined) warn(`"mcpServers.${name}" is left out: ${refusal}`);
    const notes = warnings.filter((warning) => warning.startsWith(`"mcpServers.${name}.`));
    return refusal === undefined ? [{ name, folder, settings, notes }] : [];
  });
}

function refusalOf(name: string, settings: McpServerSettings, taken: readonly string[]): string | undefined {
  if (taken.includes(name)) return 'the settings of this server name one so';
  if (name.length > MAX_NAME_CHARS) return `its name is longer than ${MAX_NAME_CHARS} characters`;
  const { length } = JSON.stringify(settings);
  return length > MAX_DEFINITION_CHARS ? `it is longer than ${MAX_DEFINITION_CHARS} characters of JSON` : undefined;
}
