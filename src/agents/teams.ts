/**
 * Teams of named agents in a session, and the messages they send each other.
 *
 * Running agents are known only to this process, since they end with it. Teams and unread messages are in the shared
 * store of the principal, so they survive a crash.
 */
import type { Limits } from '../../config/limits.ts';
import { GauntletError, isGauntletError } from '../base/errors.ts';
import type { JsonValue } from '../base/json.ts';
import type { OpenSharedStore, SharedEntry, SharedStore } from '../log/shared-store.ts';

/** Reserved name of the session's own model. */
export const MAIN_AGENT = 'main';

/** Receiver name for all other agents. */
export const EVERYBODY = '*';

const TEAMS = 'agent-teams';
const MAIL = 'agent-mail';

const DAY_MS = 24 * 60 * 60_000;

/** Agents that a team may have over its life. */
export const MAX_TEAM_MEMBERS = 64;

/** Messages that wait for one agent. */
export const MAX_MAILBOX_MESSAGES = 200;

/** Attempts of a change that conflicts with another one. */
const MAX_TRIES = 5;

/** Agents that work together: all agents below one session that a client created. */
export interface Group {
  readonly principal: string;
  /** Id of that session. */
  readonly id: string;
  /** Name of the agent whose session was looked up; absent if it has none. */
  readonly name?: string;
}

/** A stored team. */
export interface Team {
  readonly name: string;
  readonly description: string;
  /** Names of all its agents so far, oldest first. */
  readonly members: readonly string[];
}

/** One message. */
export interface Mail {
  readonly from: string;
  readonly text: string;
  readonly summary?: string;
}

/** A message in a mailbox. */
export interface ReceivedMail extends Mail {
  readonly key: string;
  /** Larger than the versions of all earlier messages. */
  readonly version: number;
}

interface Worker {
  readonly group: Group;
  readonly name: string | undefined;
}

/** The agents, teams and mailboxes of one server. */
export class AgentTeams {
  readonly #openStore: OpenSharedStore;
  readonly #limits: Pick<Limits, 'sessionDays'>;
  /** Running agents, by the id of their session. */
  readonly #workers = new Map<string, Worker>();
  /** By group: version of the last message delivered to the main agent. */
  readonly #handed = new Map<string, number>();

  constructor(openStore: OpenSharedStore, limits: Pick<Limits, 'sessionDays'>) {
    this.#openStore = openStore;
    this.#limits = limits;
  }

  /** Return the group of a session, with the name of its agent. */
  groupOf(principal: string, sessionId: string): Group {
    const worker = this.#workers.get(sessionId);
    if (!worker) return { principal, id: sessionId, name: MAIN_AGENT };
    return { principal, id: worker.group.id, ...(worker.name !== undefined && { name: worker.name }) };
  }

  /** Return the names of the group's running agents. */
  working(group: Group): readonly string[] {
    const own = [...this.#workers.values()].filter(({ group: { id } }) => id === group.id);
    return own.flatMap(({ name }) => name ?? []);
  }

  /** @throws {GauntletError} `tool_failed` for the name of a running agent. */
  refuseTaken(group: Group, name: string): void {
    if (!this.working(group).includes(name)) return;
    const message = `An agent called "${name}" works already. Choose another name, or send it a message`;
    throw new GauntletError('tool_failed', message);
  }

  /**
   * Register an agent that starts.
   *
   * @returns Its mailbox. Messages that it read are deleted at its end, and unread ones too unless it is in a team.
   * @throws {GauntletError} `tool_failed`, `resource_exhausted`, `log_unavailable`
   */
  async enter(group: Group, sessionId: string, name?: string): Promise<AgentMail> {
    if (name !== undefined) this.refuseTaken(group, name);
    this.#workers.set(sessionId, { group, name });
    try {
      if (name !== undefined) await this.#addMember(group, name);
    } catch (error) {
      this.#workers.delete(sessionId);
      throw error;
    }
    return this.#mailOf(group, sessionId, name);
  }

  #mailOf(group: Group, sessionId: string, name: string | undefined): AgentMail {
    const read: string[] = [];
    let last = 0;
    const mail = this.#mail(group);
    return {
      read: async () => {
        if (name === undefined) return [];
        const fresh = (await this.#mailbox(group, name)).filter(({ version }) => version > last);
        last = fresh.at(-1)?.version ?? last;
        read.push(...fresh.map(({ key }) => key));
        return fresh;
      },
      leave: async () => {
        this.#workers.delete(sessionId);
        if (name === undefined) return;
        const isKept = (await this.team(group)) !== undefined;
        const gone = isKept ? read : (await this.#mailbox(group, name)).map(({ key }) => key);
        for (const key of gone) await mail.delete(key);
      },
    };
  }

  /** Return the team of a group. */
  async team(group: Group): Promise<Team | undefined> {
    return teamOf(await this.#teams(group).get(group.id));
  }

  /** Create a team. @throws {GauntletError} `tool_failed` if the group has one. */
  async create(group: Group, { name, description }: Pick<Team, 'name' | 'description'>): Promise<Team> {
    const team: Team = { name, description, members: [...this.working(group)] };
    try {
      await this.#teams(group).set(group.id, team as unknown as JsonValue, 0);
      return team;
    } catch (error) {
      if (!isGauntletError(error, 'conflict')) throw error;
      const other = (await this.team(group))?.name ?? '';
      const message = `This session has a team already, "${other}". Use it, or delete it first`;
      throw new GauntletError('tool_failed', message);
    }
  }

  /** Delete a team and its mailboxes. @throws {GauntletError} `tool_failed` for a wrong name, or while its agents run. */
  async delete(group: Group, name: string): Promise<Team> {
    const team = await this.team(group);
    if (team?.name !== name) {
      const hint = team ? `The team of this session is "${team.name}"` : 'This session has no team';
      throw new GauntletError('tool_failed', `Cannot delete team "${name}". ${hint}`);
    }
    const busy = this.working(group);
    if (busy.length > 0) {
      const names = busy.map((each) => `"${each}"`).join(', ');
      throw new GauntletError('tool_failed', `Cannot delete team "${name}": ${names} still work. Stop them, or wait`);
    }
    const mail = this.#mail(group);
    for (const { key } of await mail.list(`${group.id}/`)) await mail.delete(key);
    await this.#teams(group).delete(group.id);
    return team;
  }

  /**
   * Put a message into mailboxes.
   *
   * @param to A name, or `EVERYBODY`.
   * @returns The receivers, once it is on disk.
   * @throws {GauntletError} `tool_failed` for an unknown name, `resource_exhausted` for a mailbox that is full.
   */
  async send(group: Group, to: string, mail: Mail): Promise<readonly string[]> {
    const known = await this.#reachable(group);
    const receivers = to === EVERYBODY ? known : known.filter((name) => name === to);
    if (receivers.length === 0) throw nobody(to, known);
    const boxes = await Promise.all(receivers.map((name) => this.#mailbox(group, name)));
    const full = receivers.find((_name, place) => (boxes[place]?.length ?? 0) >= MAX_MAILBOX_MESSAGES);
    if (full !== undefined) {
      const message = `Cannot write to "${full}": ${MAX_MAILBOX_MESSAGES} messages wait for it already`;
      throw new GauntletError('resource_exhausted', message);
    }
    const store = this.#mail(group);
    await this.#removeOld(store);
    for (const name of receivers) await store.set(`${group.id}/${name}/${uniquePart()}`, { ...mail }, 0);
    return receivers;
  }

  /**
   * Take the messages for the main agent of a group.
   *
   * @param after Version of the last message whose delivery is in its session's log: messages up to it are deleted.
   */
  async takeMain(group: Group, after: number): Promise<readonly ReceivedMail[]> {
    const waiting = await this.#mailbox(group, MAIN_AGENT);
    for (const { key } of waiting.filter(({ version }) => version <= after)) await this.#mail(group).delete(key);
    const handed = Math.max(after, this.#handed.get(group.id) ?? 0);
    const fresh = waiting.filter(({ version }) => version > handed);
    const last = fresh.at(-1);
    if (last) this.#handed.set(group.id, last.version);
    return fresh;
  }

  async #reachable(group: Group): Promise<readonly string[]> {
    const members = (await this.team(group))?.members ?? [];
    const all = new Set([MAIN_AGENT, ...this.working(group), ...members]);
    return [...all].filter((name) => name !== group.name);
  }

  async #mailbox(group: Group, name: string): Promise<readonly ReceivedMail[]> {
    const entries = await this.#mail(group).list(`${group.id}/${name}/`);
    return entries.map(receivedMail).sort((one, other) => one.version - other.version);
  }

  /** Add an agent to the members, whose messages are kept. */
  async #addMember(group: Group, name: string): Promise<void> {
    for (let tries = 1; ; tries++) {
      const entry = await this.#teams(group).get(group.id);
      const team = teamOf(entry);
      if (!entry || !team || team.members.includes(name)) return;
      if (team.members.length >= MAX_TEAM_MEMBERS) {
        const message = `Team "${team.name}" has had ${MAX_TEAM_MEMBERS} agents, the maximum. Reuse a name`;
        throw new GauntletError('resource_exhausted', message);
      }
      try {
        const grown: Team = { ...team, members: [...team.members, name] };
        await this.#teams(group).set(group.id, grown as unknown as JsonValue, entry.version);
        return;
      } catch (error) {
        if (!isGauntletError(error, 'conflict') || tries >= MAX_TRIES) throw error;
      }
    }
  }

  /** Delete messages of deleted sessions. */
  async #removeOld(mail: SharedStore): Promise<void> {
    const oldest = Date.now() - this.#limits.sessionDays * DAY_MS;
    for (const { key } of await mail.list()) if (sentAtOf(key) < oldest) await mail.delete(key);
  }

  #teams({ principal }: Group): SharedStore {
    return this.#openStore(principal, TEAMS);
  }

  #mail({ principal }: Group): SharedStore {
    return this.#openStore(principal, MAIL);
  }
}

/** The mailbox of a running agent. */
export interface AgentMail {
  /** Return the messages that came since the last call. */
  read(): Promise<readonly ReceivedMail[]>;
  /** Called when the agent has ended. */
  leave(): Promise<void>;
}

let mailCount = 0;

/** Make a key part that is unique; versions give the order of messages. */
function uniquePart(): string {
  return `${Date.now()}-${process.pid}-${(mailCount += 1)}`;
}

function sentAtOf(key: string): number {
  return Number(key.slice(key.lastIndexOf('/') + 1).split('-')[0]);
}

function nobody(to: string, known: readonly string[]): GauntletError {
  const who =
    known.length === 0 ? 'There is no other agent' : `You can write to ${known.map((name) => `"${name}"`).join(', ')}`;
  const hint = 'An agent is reached by the "name" that it was started with, and after its end where there is a team';
  return new GauntletError('tool_failed', `No agent is called "${to}". ${who}. ${hint}`);
}

/** Only this file writes these entries, so their shape is known. */
function teamOf(entry: SharedEntry | undefined): Team | undefined {
  return entry?.value as unknown as Team | undefined;
}

function receivedMail({ key, version, value }: SharedEntry): ReceivedMail {
  return { ...(value as unknown as Mail), key, version };
}

/** Format messages for a model. */
export function mailText(mail: readonly Mail[]): string {
  return mail.map(({ from, text }) => `<message from="${from}">\n${text}\n</message>`).join('\n');
}
