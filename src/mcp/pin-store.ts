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

/** Definition that was first seen or approved. */
export interface Pin {
  /** SHA-256, hex, of the text. */
  readonly hash: string;
  /** The definition, for a diff with a later one; absent where it was too long to keep. */
  readonly text?: string;
}

/** Pinned definitions of one server, by the tool's name as the server sent it. */
export interface StoredPins {
  readonly size: number;
  get(toolName: string): Pin | undefined;
  /** Pin a definition; it is written to disk in the background. A text without room is left out. */
  set(toolName: string, pin: Pin): void;
}

/** Text of one definition, and those of one server together, in characters. The file is read before the server listens. */
const MAX_TEXT_CHARS = 64 * 1_024;
const MAX_SERVER_TEXT_CHARS = 256 * 1_024;

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
  tools: z.array(z.union([z.tuple([z.string(), z.string()]), z.tuple([z.string(), z.string(), z.string()])])),
});
const PinFile = z.strictObject({ version: z.literal(1), servers: z.array(StoredServer) });

interface ServerEntry {
  readonly name: string;
  readonly identity: string;
  readonly pins: Map<string, Pin>;
  /** Characters of all texts. */
  textChars: number;
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
      const entry = entries.get(identity) ?? { name, identity, pins: new Map<string, Pin>(), textChars: 0 };
      entries.delete(identity);
      entries.set(identity, entry);
      if (isConfigured) configured.add(identity);
      const { pins } = entry;
      return {
        get size() {
          return pins.size;
        },
        get: (toolName) => pins.get(toolName),
        set(toolName, pin) {
          const known = pins.get(toolName);
          const otherChars = entry.textChars - (known?.text?.length ?? 0);
          const kept = withRoom(pin, otherChars);
          if (known?.hash === kept.hash && known.text === kept.text) return;
          pins.set(toolName, kept);
          entry.textChars = otherChars + (kept.text?.length ?? 0);
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

/** Leave the text out where it is too long, or those of the server's other tools are. */
function withRoom({ hash, text }: Pin, otherChars: number): Pin {
  const hasRoom = text !== undefined && text.length <= MAX_TEXT_CHARS;
  return hasRoom && otherChars + text.length <= MAX_SERVER_TEXT_CHARS ? { hash, text } : { hash };
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
    return servers.map(({ name, identity, tools }) => ({
      ...{ name, identity, textChars: tools.reduce((sum, [, , text = '']) => sum + text.length, 0) },
      pins: new Map(tools.map(([tool, hash, text]) => [tool, { hash, ...(text !== undefined && { text }) }])),
    }));
  } catch (cause) {
    throw new GauntletError(
      'invalid_setting',
      `"${file}" does not hold the pinned definitions of MCP tools. Remove it, and those that servers list next are pinned`,
      { cause },
    );
  }
}

function serialize(entries: ReadonlyMap<string, ServerEntry>): string {
  const servers = [...entries.values()].map(({ name, identity, pins }) => ({
    ...{ name, identity },
    tools: [...pins].map(([tool, { hash, text }]): z.input<typeof StoredServer>['tools'][number] =>
      text === undefined ? [tool, hash] : [tool, hash, text],
    ),
  }));
  return `${JSON.stringify({ version: 1, servers } satisfies z.input<typeof PinFile>, null, 1)}\n`;
}
