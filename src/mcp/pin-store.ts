/**
 * Stores the pins of tool definitions in one file of the data directory, so that they survive a restart.
 *
 * The file is replaced by rename: after a crash it holds the old pins or the new ones, never a part.
 */
import { createHash } from 'node:crypto';
import { lstatSync, readFileSync } from 'node:fs';
import * as z from 'zod';
import { errorMessage, GauntletError } from '../base/errors.ts';
import { atomicWrite } from '../files/atomic-write.ts';
import type { McpServerSettings } from './server-settings.ts';

/** Pinned definitions of one server: the hash of each, by the tool's name as the server sent it. */
export interface StoredPins {
  readonly size: number;
  get(toolName: string): string | undefined;
  /** Pin a definition; it is written to disk in the background. */
  set(toolName: string, hash: string): void;
}

/** Pins of all servers. */
export interface PinStore {
  /**
   * Pins of a server. Another program or address under the same name has separate pins.
   *
   * @param options With `isConfigured: false` they are bounded like those of former servers.
   */
  pinsOf(name: string, settings: McpServerSettings, options?: { readonly isConfigured: boolean }): StoredPins;
  /** Wait until all pins are on disk. Never rejects. */
  close(): Promise<void>;
}

/** Bounds and callback of a store. */
export interface PinStoreOptions {
  /** Servers that are no longer configured and whose pins are kept, most recently used first. */
  readonly maxFormerServers: number;
  /** Called for each failed write. */
  readonly onFailure: (reason: string) => void;
}

const StoredServer = z.strictObject({
  name: z.string(),
  identity: z.string(),
  // Pairs, because a tool may be named `__proto__`, which an object cannot hold.
  tools: z.array(z.tuple([z.string(), z.string()])),
});
const PinFile = z.strictObject({ version: z.literal(1), servers: z.array(StoredServer) });

interface ServerEntry {
  readonly name: string;
  readonly identity: string;
  readonly hashes: Map<string, string>;
}

/**
 * Read the stored pins.
 *
 * @param file Real path. A missing file means no pins.
 * @throws {GauntletError} `invalid_setting` if the file is malformed: without its pins, any changed definition would be
 *   accepted.
 */
export function openPinStore(file: string, { maxFormerServers, onFailure }: PinStoreOptions): PinStore {
  /** By identity, most recently used last. */
  const entries = new Map(readEntries(file).map((entry) => [entry.identity, entry]));
  const configured = new Set<string>();
  let isChanged = false;
  let writing: Promise<void> | undefined;

  async function writeChanges(): Promise<void> {
    // A server pins all its tools in one synchronous run; one write covers them.
    await Promise.resolve();
    while (isChanged) {
      isChanged = false;
      try {
        const modes = { newFileMode: 0o600, newFolderMode: 0o700 };
        await atomicWrite({ real: file, spelled: file, content: serialize(entries), expected: 'any', ...modes });
      } catch (error) {
        isChanged = true;
        return onFailure(errorMessage(error));
      }
    }
  }

  function save(): Promise<void> {
    return (writing ??= writeChanges().finally(() => (writing = undefined)));
  }

  function forgetFormerServers(): void {
    const former = [...entries.keys()].filter((identity) => !configured.has(identity));
    for (const identity of former.slice(0, Math.max(0, former.length - maxFormerServers))) entries.delete(identity);
  }

  return {
    pinsOf(name, settings, { isConfigured } = { isConfigured: true }) {
      const identity = identityOf(name, settings);
      const entry = entries.get(identity) ?? { name, identity, hashes: new Map<string, string>() };
      entries.delete(identity);
      entries.set(identity, entry);
      if (isConfigured) configured.add(identity);
      const { hashes } = entry;
      return {
        get size() {
          return hashes.size;
        },
        get: (toolName) => hashes.get(toolName),
        set(toolName, hash) {
          hashes.set(toolName, hash);
          forgetFormerServers();
          isChanged = true;
          void save();
        },
      };
    },
    async close() {
      await writing;
      if (isChanged) await save();
    },
  };
}

/** Digest of a server's name and of the program or address behind it. Keys are left out, so that they may change. */
function identityOf(name: string, settings: McpServerSettings): string {
  const place =
    'url' in settings ? [settings.type, settings.url] : [settings.command, settings.args ?? [], settings.cwd ?? ''];
  return createHash('sha256')
    .update(JSON.stringify([name, place]))
    .digest('hex');
}

function readEntries(file: string): readonly ServerEntry[] {
  try {
    const status = lstatSync(file, { throwIfNoEntry: false });
    if (status === undefined) return [];
    if (!status.isFile()) throw new TypeError('it is not a regular file');
    const { servers } = PinFile.parse(JSON.parse(readFileSync(file, 'utf8')));
    return servers.map(({ name, identity, tools }) => ({ name, identity, hashes: new Map(tools) }));
  } catch (cause) {
    throw new GauntletError(
      'invalid_setting',
      `"${file}" does not hold the pinned definitions of MCP tools. Remove it, and those that servers list next are pinned`,
      { cause },
    );
  }
}

function serialize(entries: ReadonlyMap<string, ServerEntry>): string {
  const servers = [...entries.values()].map(({ name, identity, hashes }) => ({ name, identity, tools: [...hashes] }));
  return `${JSON.stringify({ version: 1, servers } satisfies z.input<typeof PinFile>, null, 1)}\n`;
}
