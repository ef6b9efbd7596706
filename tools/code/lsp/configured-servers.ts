/** The language servers of the settings: which are there, which of them is for a file, and where they run. */
import { realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { LanguageServerSettings } from '../../../config/settings/language-servers.ts';
import { findProgram } from '../../../src/process/find-program.ts';
import type { JailPlace } from '../../../src/process/jail/place.ts';
import { sessionPlace } from '../../../src/process/jail/session-place.ts';
import type { CallHold, ToolUseContext } from '../../../src/tool/tool.ts';
import type { CodeToolServices } from '../services.ts';

/** A language server whose program is there. */
export interface ConfiguredServer {
  readonly name: string;
  readonly settings: LanguageServerSettings;
  /** Absolute path of its program. */
  readonly command: string;
}

/** The servers that can be started, and the reason where there is none. */
export interface FoundServers {
  readonly found: readonly ConfiguredServer[];
  readonly missing: string;
}

/** Look for the programs of the settings, once. */
export function findServers({ languageServers = {}, searchPath }: CodeToolServices): FoundServers {
  const entries = Object.entries(languageServers);
  const found = entries.flatMap(([name, settings]): readonly ConfiguredServer[] => {
    const command = findProgram(settings.command, searchPath);
    return command === undefined ? [] : [{ name, settings, command }];
  });
  const absent = entries.map(([name, { command }]) => `"${command}" of "${name}"`).join(', ');
  const missing =
    entries.length === 0
      ? 'no language server is configured: set "languageServers" to a command and its file extensions'
      : `no program of "languageServers" is on the PATH: ${absent}. Install one, or write its absolute path`;
  return { found, missing };
}

/** Return the server for a file, by the longest extension. */
export function serverFor(servers: readonly ConfiguredServer[], filePath: string): ConfiguredServer | undefined {
  const name = filePath.toLowerCase();
  const endOf = ({ settings }: ConfiguredServer) =>
    Math.max(0, ...settings.extensions.filter((end) => name.endsWith(end)).map((end) => end.length));
  return servers.filter((server) => endOf(server) > 0).sort((one, other) => endOf(other) - endOf(one))[0];
}

/** Return what the protocol calls the language of a file. */
export function languageOf({ name, settings }: ConfiguredServer, filePath: string): string {
  const [, end = ''] = /\.([^.]+)$/.exec(filePath.toLowerCase()) ?? [];
  return settings.languageId ?? LANGUAGES[end] ?? name;
}

/** Identifiers that are not the name of the language, by extension. */
const LANGUAGES: Readonly<Record<string, string>> = {
  ...{ ts: 'typescript', mts: 'typescript', cts: 'typescript', tsx: 'typescriptreact' },
  ...{ js: 'javascript', mjs: 'javascript', cjs: 'javascript', jsx: 'javascriptreact' },
  ...{ py: 'python', pyi: 'python', rs: 'rust', go: 'go', rb: 'ruby', cs: 'csharp', kt: 'kotlin', java: 'java' },
  ...{ c: 'c', h: 'c', cc: 'cpp', cpp: 'cpp', hpp: 'cpp', sh: 'shellscript', yml: 'yaml', md: 'markdown' },
};

/**
 * Prepare the jail of a server: it runs code of the workspace, so that nothing but the kernel can hold it to reading.
 * Where the jail is switched off, a person is asked.
 */
export async function holdServer(
  { jail }: CodeToolServices,
  server: ConfiguredServer | undefined,
  context: ToolUseContext,
): Promise<CallHold> {
  const reason = 'a language server runs code of the workspace, and "containment" keeps no jail for it';
  if (!jail || !server) return { kind: 'none', reason };
  const hold = await jail.prepare(serverPlace(server, context));
  return hold.kind === 'words' ? { kind: 'none', reason } : hold;
}

/** Place of a server in its jail: what the session may read, and the folders of its own program. */
export function serverPlace({ name, settings, command }: ConfiguredServer, context: ToolUseContext): JailPlace {
  const place = sessionPlace(context);
  const own = [dirname(command), dirname(realPath(command)), ...settings.readFolders.map(realPath)];
  return {
    ...place,
    // A jail of its own: the session's commands come and go beside it.
    sessionId: `${place.sessionId}/lsp/${name}`,
    sessionFolder: join(place.sessionFolder, 'lsp'),
    folders: [...new Set([...place.folders, ...own])],
  };
}

function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    // A folder that is not there is left out of the jail.
    return path;
  }
}
