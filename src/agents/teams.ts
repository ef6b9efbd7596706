/**
 * Teams of named agents in a session, and the messages they send each other.
 *
 * Which agents work is known to this process alone, since they end with it. A team, and mail that nobody has read, are
 * in the store that the sessions of a principal share: they are there after a crash.
 */
import type { Limits } from '../../config/limits.ts';
import { GauntletError, isGauntletError } from '../base/errors.ts';
import type { JsonValue } from '../base/json.ts';
import type { OpenSharedStore, SharedEntry, SharedStore } from '../log/shared-store.ts';

/** The name of the agent that a session belongs to, and to which no other may be called. */
export const MAIN_AGENT = 'main';

/** Receiver name for all other agents. */
export const EVERYBODY = '*';

const TEAMS = 'agent-teams';
const MAIL = 'agent-mail';

const DAY_MS = 24 * 60 * 60_000;

/** Agents that a team has had. */
export const MAX_TEAM_MEMBERS = 64;

/** Messages that wait for one agent. */
export const MAX_MAILBOX_MESSAGES = 200;

/** Times a change is tried again that another one came before. */
const MAX_TRIES = 5;

/** Agents that work together: those of one session that no agent began, at any depth. */
export interface Group {
  readonly principal: string;
  /** Id of that session. */
  readonly id: string;
  /** Name of the agent whose session was asked about; absent where it has none. */
  readonly name?: string;
}

/** A team, as it is stored. */
export interface Team {
  readonly name: string;
  readonly description: string;
  /** Names of the agents that it has had, the first first. */
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
  /** Larger than that of every message before it. */
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
  /** Agents at work, by the id of their session. */
  readonly #workers = new Map<string, Worker>();
  /** By group: the last message that the main agent was handed. */
  readonly #handed = new Map<string, number>();

  constructor(openStore: OpenSharedStore, limits: Pick<Limits, 'sessionDays'>) {
    this.#openStore = openStore;
    this.#limits = limits;
  }

  /** The group of a session, and the name of its agent. */
  groupOf(principal: string, sessionId: string): Group {
    const worker = this.#workers.get(sessionId);
    if (!worker) return { principal, id: sessionId, name: MAIN_AGENT };
    return { principal, id: worker.group.id, ...(worker.name !== undefined && { name: worker.name }) };
  }

  /** Names of the group's agents at work. */
  working(group: Group): readonly string[] {
    const own = [...this.#workers.values()].filter(({ group: { id } }) => id === group.id);
    return own.flatMap(({ name }) => name ?? []);
  }

  /** @throws {GauntletError} `tool_failed` for a name that an agent at work has. */
  refuseTaken(group: Group, name: string): void {
    if (!this.working(group).includes(name)) return;
    const message = `An agent called "${name}" works already. Choose another name, or send it a message`;
    throw new GauntletError('tool_failed', message);
  }

  /**
   * An agent begins to work.
   *
   * @returns Its end: mail that it has read goes, and so does the rest where no team keeps it.
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

  /** The team of a group. */
  async team(group: Group): Promise<Team | undefined> {
    return teamOf(await this.#teams(group).get(group.id));
  }

  /** Begin a team. @throws {GauntletError} `tool_failed` where the group has one. */
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

  /** End a team and its mailboxes. @throws {GauntletError} `tool_failed` for another name, and while its agents work. */
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
   * @returns Who gets it, once it is on disk.
   * @throws {GauntletError} `tool_failed` for a name that nobody has, `resource_exhausted` for a mailbox that is full.
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
   * Take what waits for the main agent of a group.
   *
   * @param after The last message of which its session's log says that it was handed out: those up to it go now.
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

  /** A team remembers who was in it: mail for them waits. */
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

  /** Mail of sessions that are gone. */
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

/** The mailbox of an agent at work. */
export interface AgentMail {
  /** Return the messages that came since the last call. */
  read(): Promise<readonly ReceivedMail[]>;
  /** The agent has ended. */
  leave(): Promise<void>;
}

let mailCount = 0;

/** Ends a key: versions say what came first. */
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

/** Messages, as a model reads them. */
export function mailText(mail: readonly Mail[]): string {
  return mail.map(({ from, text }) => `<message from="${from}">\n${text}\n</message>`).join('\n');
}
