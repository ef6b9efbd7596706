/**
 * Watches a session for MCP clients that listen: changed lists of tools, prompts and resources, and notices.
 */
import type { ServerEvent, ServerEventBus } from '@modelcontextprotocol/server';
import { serverHidingRule } from '../../src/permissions/rule-index.ts';
import { toolList } from '../../src/pool/tool-list.ts';
import type { Session } from '../../src/session/session.ts';
import type { Frame, NoticeFrame } from '../../src/wire/frames.ts';
import type { McpDoorContext } from './dependencies.ts';
import { upstreamPrompts } from './session-prompts.ts';

/** Changes closer together than this are announced once. */
const PAUSE_MS = 200;

/** Options of `SessionEvents`. */
export interface SessionEventsOptions extends Pick<
  McpDoorContext,
  'onToolsChanged' | 'skills' | 'upstreams' | 'logger'
> {
  session(): Promise<Session>;
}

/** The events of one session. It is watched while there is a listener. */
export class SessionEvents implements ServerEventBus {
  readonly #options: SessionEventsOptions;
  readonly #listeners = new Set<(event: ServerEvent) => void>();
  readonly #noticeListeners = new Set<(notice: NoticeFrame) => void>();
  readonly #due = new Map<ServerEvent['kind'], NodeJS.Timeout>();
  #watch: AbortController | undefined;

  constructor(options: SessionEventsOptions) {
    this.#options = options;
  }

  publish(event: ServerEvent): void {
    for (const listener of [...this.#listeners]) listener(event);
  }

  subscribe(listener: (event: ServerEvent) => void): () => void {
    this.#listeners.add(listener);
    this.#watch ??= this.#start();
    return () => {
      if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.#stop();
    };
  }

  /** Call `listener` with each notice, while the session is watched. @returns A function that ends that. */
  onNotice(listener: (notice: NoticeFrame) => void): () => void {
    this.#noticeListeners.add(listener);
    return () => void this.#noticeListeners.delete(listener);
  }

  #start(): AbortController {
    const watch = new AbortController();
    this.#follow(watch.signal).catch((error: unknown) => {
      // A session that was removed has no events, and no fault.
      this.#options.logger.debug({ err: error }, 'A session is no longer watched for MCP clients');
    });
    return watch;
  }

  #stop(): void {
    this.#watch?.abort();
    this.#watch = undefined;
    for (const timer of this.#due.values()) clearTimeout(timer);
    this.#due.clear();
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const session = await this.#options.session();
    let shown = this.#shown(session);
    const compare = async () => {
      const now = this.#shown(await this.#options.session());
      if (now.tools !== shown.tools) this.#announce('tools_list_changed');
      if (now.prompts !== shown.prompts) this.#announce('prompts_list_changed');
      shown = now;
    };
    const compareSafely = () =>
      void compare().catch((error: unknown) => {
        this.#options.logger.debug({ err: error }, 'A list of tools could not be compared for MCP clients');
      });
    const unsubscribe = this.#options.onToolsChanged(compareSafely);
    const endResources = this.#options.upstreams.onResourcesChanged(session.principal, (server) => {
      if (!serverHidingRule(session.context.permissions, server)) this.#announce('resources_list_changed');
    });
    try {
      const { head } = session.bounds();
      for await (const page of session.read(head, { live: true, signal, onGap: () => undefined })) {
        for (const logged of page) {
          const { type } = logged;
          if (type === 'context' || type === 'tools_changed') compareSafely();
          else if (type === 'change' || type === 'undo') this.#announce('resources_list_changed');
          else if (type === 'result' || type === 'notice') this.#onFrame(logged.frame);
        }
      }
    } finally {
      unsubscribe();
      endResources();
    }
  }

  #onFrame(frame: Frame): void {
    if (frame.type === 'result' && frame.call.spilled) this.#announce('resources_list_changed');
    else if (frame.type === 'notice') for (const listener of this.#noticeListeners) listener(frame);
  }

  #shown(session: Session): { readonly tools: string; readonly prompts: string } {
    const pool = session.pool();
    const { etag } = toolList(pool, { format: 'mcp', schemas: 'full' });
    const hasPrompts = pool.lookup(this.#options.skills.tool) !== undefined;
    return { tools: etag, prompts: JSON.stringify([hasPrompts, upstreamPrompts(this.#options, session)]) };
  }

  #announce(kind: Exclude<ServerEvent['kind'], 'resource_updated'>): void {
    if (this.#due.has(kind)) return;
    const timer = setTimeout(() => {
      this.#due.delete(kind);
      this.publish({ kind });
    }, PAUSE_MS);
    this.#due.set(kind, timer);
  }
}
