/**
 * Saved batches of tool calls that a request starts. They are kept in the shared store of their principal.
 */
import { randomBytes } from 'node:crypto';
import { GauntletError } from '../base/errors.ts';
import type { JsonValue } from '../base/json.ts';
import type { OpenSharedStore, SharedStore } from '../log/shared-store.ts';
import type { InnerBlock } from '../tool/inner-call.ts';
import type { PermissionBound } from '../tool/permission-bound.ts';

/** Triggers of one principal. */
export const MAX_TRIGGERS = 50;

/** Characters of a batch as JSON, so that all triggers of a principal fit into its store. */
export const MAX_BATCH_CHARS = 50_000;

const NAMESPACE = 'triggers';

/** Title and calls of a trigger. */
export interface TriggerBody {
  /** For people. */
  readonly title: string;
  readonly tool_uses: readonly Pick<InnerBlock, 'name' | 'input'>[];
}

/** A saved batch. Plain data, stored as it is. */
export interface Trigger extends TriggerBody {
  readonly id: string;
  /** Session whose permissions bound each run while it exists. */
  readonly sessionId: string;
  readonly cwd: string;
  readonly atMost: PermissionBound;
  /** ISO 8601. */
  readonly createdAt: string;
}

/** The saved batches of all principals. */
export class Triggers {
  readonly #open: OpenSharedStore;

  constructor(store: OpenSharedStore) {
    this.#open = store;
  }

  async list(principal: string): Promise<readonly Trigger[]> {
    const entries = await this.#store(principal).list();
    return entries.map(({ value }) => triggerOf(value));
  }

  /** @throws {GauntletError} `not_found` */
  async get(principal: string, id: string): Promise<Trigger> {
    const entry = await this.#find(principal, id);
    if (entry) return triggerOf(entry.value);
    throw new GauntletError('not_found', `There is no trigger "${id}"`);
  }

  /** @throws {GauntletError} `resource_exhausted` for too many, or too long a batch. */
  async create(principal: string, given: Omit<Trigger, 'id' | 'createdAt'>): Promise<Trigger> {
    if ((await this.list(principal)).length >= MAX_TRIGGERS) {
      const message = `Cannot save another trigger: there are ${MAX_TRIGGERS} already. Update one with no blocks, which removes it`;
      throw new GauntletError('resource_exhausted', message);
    }
    const id = `trg_${randomBytes(8).toString('hex')}`;
    return this.#keep(principal, { ...given, id, createdAt: new Date().toISOString() });
  }

  /**
   * Replace what a trigger does and its bound; without blocks it is removed.
   *
   * @throws {GauntletError} `not_found`
   */
  async update(principal: string, id: string, given: Omit<Trigger, 'id' | 'createdAt'>): Promise<Trigger> {
    const { createdAt } = await this.get(principal, id);
    const trigger = { ...given, id, createdAt };
    if (given.tool_uses.length > 0) return this.#keep(principal, trigger);
    await this.#store(principal).delete(id);
    return trigger;
  }

  async #keep(principal: string, trigger: Trigger): Promise<Trigger> {
    const text = JSON.stringify(trigger);
    if (JSON.stringify(trigger.tool_uses).length > MAX_BATCH_CHARS) {
      const message = `Cannot save the trigger: its blocks have more than ${MAX_BATCH_CHARS} characters of JSON. Save less`;
      throw new GauntletError('resource_exhausted', message);
    }
    await this.#store(principal).set(trigger.id, JSON.parse(text) as JsonValue);
    return trigger;
  }

  async #find(principal: string, id: string) {
    return /^trg_[0-9a-f]{16}$/.test(id) ? this.#store(principal).get(id) : undefined;
  }

  #store(principal: string): SharedStore {
    return this.#open(principal, NAMESPACE);
  }
}

/** Only this file writes here, and the store checks what it reads. */
function triggerOf(value: JsonValue): Trigger {
  return value as unknown as Trigger;
}
