/**
 * The store that all sessions of one principal share: JSON values by key, changed by compare-and-set.
 *
 * Task lists, mailboxes and schedules belong here: state that outlives a session or that two sessions change at once.
 * Entries are separated by principal and, within one, by namespace.
 */
import type { JsonValue } from '../base/json.ts';
import { GauntletError } from '../base/errors.ts';
import { withDiskErrors } from './disk-errors.ts';
import { checksumOfShared } from './checksums.ts';
import { columnText } from './column-text.ts';
import { inTransaction, type OpenDatabase } from './open-database.ts';

/** Current state of one entry. */
export interface SharedEntry {
  readonly key: string;
  readonly value: JsonValue;
  /**
   * Increases with each `set` of any entry and is never reused: an entry that was removed and set again has a new one.
   */
  readonly version: number;
}

/**
 * The entries of one principal and namespace. Methods reject with {GauntletError} `log_unavailable` if the disk fails.
 */
export interface SharedStore {
  /**
   * Find an entry. Rejects with `log_unavailable` (`details.reason` `corrupt`) if it is damaged; it may be set again.
   */
  get(key: string): Promise<SharedEntry | undefined>;
  /**
   * Set a value.
   *
   * @param expectedVersion Version that must be current, 0 for a key that must not exist; absent: unconditional.
   * @returns The new version, once it is on disk.
   * @throws {GauntletError} `conflict` if another version is current, which `details.version` holds;
   *   `resource_exhausted` past a limit, named in `details.reason`; `invalid_input` for an invalid key.
   */
  set(key: string, value: JsonValue, expectedVersion?: number): Promise<number>;
  /** Remove an entry. @returns False if there was none. @throws {GauntletError} `conflict`, as `set`. */
  delete(key: string, expectedVersion?: number): Promise<boolean>;
  /** List the entries whose keys begin with `prefix`, by key in code-unit order. Damaged ones are left out. */
  list(prefix?: string): Promise<readonly SharedEntry[]>;
}

/**
 * Open the entries of a principal in one namespace.
 *
 * @throws {GauntletError} `invalid_input` for an invalid namespace.
 */
export type OpenSharedStore = (principal: string, namespace: string) => SharedStore;

/** Limits of a principal's entries. */
export const SHARED_STORE_BOUNDS = {
  /** Entries. */
  sharedEntries: 10_000,
  /** One value, as JSON: it is read and written whole, on the event loop. */
  sharedValueBytes: 256 * 1_024,
  /** All keys and values together. */
  sharedBytes: 16 * 1_024 * 1_024,
} as const satisfies Record<string, number>;

type SharedStoreBounds = Readonly<Record<keyof typeof SHARED_STORE_BOUNDS, number>>;

/** Namespace of the entries that a session shares with its children, and that go when it is removed. */
export function sessionNamespace(rootSessionId: string): string {
  return `session:${rootSessionId}`;
}

/** Total of a principal's entries in all namespaces. */
interface Usage {
  entries: number;
  bytes: number;
}

/** Keys and namespaces: printable ASCII without spaces. */
const NAME = /^[\x21-\x7e]{1,200}$/;

/** Entries of all principals, in the log's database. */
export class SharedEntries {
  readonly #database: OpenDatabase['database'];
  readonly #bounds: SharedStoreBounds;
  readonly #statements: ReturnType<typeof prepareStatements>;
  /** Usage by principal, for those that changed an entry since the start. */
  readonly #usage = new Map<string, Usage>();

  constructor({ database }: Pick<OpenDatabase, 'database'>, bounds: SharedStoreBounds) {
    this.#database = database;
    this.#bounds = bounds;
    this.#statements = prepareStatements(database);
  }

  /** Open a store, as `OpenSharedStore`. @param refuseIfClosed Throws once the file is closed. */
  open(principal: string, namespace: string, refuseIfClosed: () => void): SharedStore {
    checkName('namespace', namespace);
    const owner = [principal, namespace] as const;
    const access = <Answer>(action: string, work: () => Answer): Answer => {
      refuseIfClosed();
      return withDiskErrors(action, work);
    };
    return {
      get: async (key) => access('read', () => this.#get(owner, key)),
      set: async (key, value, expected) => {
        checkName('key', key);
        const text = JSON.stringify(value);
        return access('keep an entry in', () => this.#set(owner, key, text, expected));
      },
      delete: async (key, expected) => access('remove an entry from', () => this.#delete(owner, key, expected)),
      list: async (prefix = '') => access('read', () => this.#list(owner, prefix)),
    };
  }

  #get(owner: Owner, key: string): SharedEntry | undefined {
    const stored = this.#find(owner, key);
    if (!stored) return undefined;
    const entry = entryOf(owner, stored);
    if (entry) return entry;
    const message = `The entry "${key}" of namespace "${owner[1]}" is damaged. Set it again, or remove it`;
    throw new GauntletError('log_unavailable', message, { details: { reason: 'corrupt' } });
  }

  #set(owner: Owner, key: string, text: string, expected: number | undefined): number {
    const before = this.#find(owner, key);
    checkVersion(key, before, expected);
    const usage = this.#usageOf(owner[0]);
    const after = {
      entries: usage.entries + (before ? 0 : 1),
      bytes: usage.bytes + sizeOf(key, text) - (before ? before.bytes : 0),
    };
    this.#refuseTooMuch(key, text, after);
    const version = inTransaction(this.#database, () => {
      const next = this.#nextVersion();
      this.#statements.upsert.run([...owner, key, next, checksumOfShared(owner, key, next, text), text]);
      return next;
    });
    this.#usage.set(owner[0], after);
    return version;
  }

  #delete(owner: Owner, key: string, expected: number | undefined): boolean {
    const before = this.#find(owner, key);
    checkVersion(key, before, expected);
    if (!before) return false;
    const usage = this.#usageOf(owner[0]);
    this.#statements.delete.run([...owner, key]);
    this.#usage.set(owner[0], { entries: usage.entries - 1, bytes: usage.bytes - before.bytes });
    return true;
  }

  #list(owner: Owner, prefix: string): readonly SharedEntry[] {
    const columns = this.#statements.selectPrefix.all([...owner, prefix, prefix.length, prefix]);
    return (columns as readonly EntryColumns[]).flatMap((stored) => entryOf(owner, stored) ?? []);
  }

  #find(owner: Owner, key: string): EntryColumns | undefined {
    return this.#statements.select.get([...owner, key]) as EntryColumns | undefined;
  }

  /** Stored beside the entries, because the newest entry may be removed. */
  #nextVersion(): number {
    const { version } = this.#statements.selectVersion.get([]) as { readonly version: number };
    this.#statements.writeVersion.run([version + 1]);
    return version + 1;
  }

  #usageOf(principal: string): Usage {
    const known = this.#usage.get(principal);
    if (known) return known;
    const usage = this.#statements.selectUsage.get([principal]) as Usage;
    this.#usage.set(principal, usage);
    return usage;
  }

  #refuseTooMuch(key: string, text: string, { entries, bytes }: Usage): void {
    const { sharedEntries, sharedValueBytes, sharedBytes } = this.#bounds;
    const refuse = (reason: string, why: string) => {
      const message = `Cannot keep "${key}": ${why}. Remove entries that are no longer needed, or keep less in one`;
      throw new GauntletError('resource_exhausted', message, { details: { reason } });
    };
    if (Buffer.byteLength(text) > sharedValueBytes)
      refuse('value_bytes', `its value has more than ${sharedValueBytes} bytes`);
    if (entries > sharedEntries) refuse('entries', `there are ${sharedEntries} entries already`);
    if (bytes > sharedBytes) refuse('bytes', `all entries together would have more than ${sharedBytes} bytes`);
  }
}

type Owner = readonly [principal: string, namespace: string];

interface EntryColumns {
  readonly key: ArrayBuffer;
  readonly version: number;
  readonly checksum: number;
  readonly value: ArrayBuffer;
  /** Length of key and value. */
  readonly bytes: number;
}

/** Decode an entry; `undefined` if its checksum does not match. */
function entryOf(owner: Owner, columns: EntryColumns): SharedEntry | undefined {
  const { version, checksum } = columns;
  const key = columnText(columns.key);
  const text = columnText(columns.value);
  if (checksumOfShared(owner, key, version, text) !== checksum) return undefined;
  return { key, value: JSON.parse(text) as JsonValue, version };
}

function sizeOf(key: string, text: string): number {
  return key.length + Buffer.byteLength(text);
}

function checkName(what: 'key' | 'namespace', name: string): void {
  if (NAME.test(name)) return;
  const message = `Cannot use ${JSON.stringify(name)} as a ${what}: expected 1 to 200 printable ASCII characters without blanks`;
  throw new GauntletError('invalid_input', message);
}

function checkVersion(key: string, before: EntryColumns | undefined, expected: number | undefined): void {
  const version = before?.version ?? 0;
  if (expected === undefined || expected === version) return;
  const message = `Cannot change "${key}": it was changed meanwhile. Read it again first`;
  throw new GauntletError('conflict', message, { details: { reason: 'version', version } });
}

function prepareStatements(database: OpenDatabase['database']) {
  const columns = `CAST(key AS BLOB) AS key, CAST(version AS INTEGER) AS version, CAST(checksum AS INTEGER) AS checksum,
    CAST(value AS BLOB) AS value, octet_length(key) + octet_length(value) AS bytes`;
  const own = 'principal = ? AND namespace = ?';
  return {
    select: database.prepare(`SELECT ${columns} FROM shared WHERE ${own} AND key = ?`),
    selectPrefix: database.prepare(
      `SELECT ${columns} FROM shared WHERE ${own} AND key >= ? AND substr(key, 1, ?) = ? ORDER BY key`,
    ),
    selectUsage: database.prepare(
      `SELECT count(*) AS entries, ifnull(sum(octet_length(key) + octet_length(value)), 0) AS bytes
       FROM shared WHERE principal = ?`,
    ),
    selectVersion: database.prepare(
      `SELECT ifnull((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'shared_version'), 0) AS version`,
    ),
    writeVersion: database.prepare(`INSERT OR REPLACE INTO meta VALUES ('shared_version', ?)`),
    upsert: database.prepare(
      `INSERT INTO shared VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (principal, namespace, key) DO UPDATE
       SET version = excluded.version, checksum = excluded.checksum, value = excluded.value`,
    ),
    delete: database.prepare(`DELETE FROM shared WHERE ${own} AND key = ?`),
  };
}
