/**
 * Requests and notices of a server that one connection takes, and the capabilities declared for them.
 */
import {
  type Client,
  type ClientCapabilities,
  type CreateMessageRequest,
  type CreateMessageResult,
  type CreateMessageResultWithTools,
  type ElicitRequest,
  type ElicitResult,
  type LoggingLevel,
  type LoggingMessageNotification,
  ProtocolError,
  ProtocolErrorCode,
  type Root,
  type SubscriptionFilter,
} from '@modelcontextprotocol/client';

/** Announcements of a changed list that are closer together than this count as one. */
const LIST_DEBOUNCE_MS = 200;

/** Requests of one server that are answered at once; a server that sends more gets errors. */
const MAX_OPEN_REQUESTS = 16;

/** A list of a server that may change. */
export type ListKind = 'tools' | 'prompts' | 'resources';

/** Ways of a server to ask a person: a form, or an address to open. */
export type ElicitMode = 'form' | 'url';

/** Handlers of one connection. Those that are absent are declared to the server as missing. */
export interface LinkHandlers {
  /** @param signal Aborted when the server withdraws its question or the connection ends. */
  elicit?(params: ElicitRequest['params'], signal: AbortSignal): Promise<ElicitResult>;
  /** Modes that `elicit` takes. Default: both. */
  readonly elicitModes?: readonly ElicitMode[];
  sample?(
    params: CreateMessageRequest['params'],
    signal: AbortSignal,
  ): Promise<CreateMessageResult | CreateMessageResultWithTools>;
  /** Options that `sample` takes beside text, images and audio. Default: none. */
  readonly sampleOptions?: NonNullable<ClientCapabilities['sampling']>;
  listRoots?(): Promise<readonly Root[]>;
  onLog?(message: LoggingMessageNotification['params']): void;
  /** Least severe messages wanted, of servers of the older era; absent: the server decides. */
  readonly logLevel?: LoggingLevel;
  /** Called when the server announces a changed list; debounced. */
  onListChanged?(kind: ListKind): void;
  /** Lists whose changes are wanted. Default: all. */
  readonly listKinds?: readonly ListKind[];
  onResourceUpdated?(uri: string): void;
}

const ALL_LISTS: readonly ListKind[] = ['tools', 'prompts', 'resources'];

/** Return the capabilities that the handlers support. */
export function capabilitiesOf(handlers: LinkHandlers): ClientCapabilities {
  const { elicitModes = ['form', 'url'] } = handlers;
  return {
    ...(handlers.elicit && { elicitation: Object.fromEntries(elicitModes.map((mode) => [mode, {}])) }),
    ...(handlers.sample && { sampling: handlers.sampleOptions ?? {} }),
    ...(handlers.listRoots && { roots: { listChanged: true } }),
  };
}

/**
 * Register the handlers at a client that is not connected yet.
 *
 * @returns A function that ends what they still wait for.
 */
export function registerHandlers(client: Client, handlers: LinkHandlers): () => void {
  const bounded = requestBound();
  if (handlers.elicit !== undefined) {
    const elicit = handlers.elicit.bind(handlers);
    client.setRequestHandler('elicitation/create', ({ params }, { mcpReq }) =>
      bounded(() => elicit(params, mcpReq.signal)),
    );
  }
  if (handlers.sample !== undefined) {
    const sample = handlers.sample.bind(handlers);
    client.setRequestHandler('sampling/createMessage', ({ params }, { mcpReq }) =>
      bounded(() => sample(params, mcpReq.signal)),
    );
  }
  if (handlers.listRoots !== undefined) {
    const listRoots = handlers.listRoots.bind(handlers);
    client.setRequestHandler('roots/list', () => bounded(async () => ({ roots: [...(await listRoots())] })));
  }
  client.setNotificationHandler('notifications/message', ({ params }) => handlers.onLog?.(params));
  client.setNotificationHandler('notifications/resources/updated', ({ params }) =>
    handlers.onResourceUpdated?.(params.uri),
  );
  return announceLists(client, handlers);
}

/** Tell a connected server of the older era which log messages are wanted; nothing waits for it. */
export function requestLogs(client: Client, { logLevel }: LinkHandlers): void {
  if (logLevel === undefined || client.getProtocolEra() !== 'legacy') return;
  if (client.getServerCapabilities()?.logging === undefined) return;
  // A server that refuses logs as it likes.
  client.setLoggingLevel(logLevel).catch(() => undefined);
}

/** Return the changes to listen to at a server of the newer era; undefined if it offers none that is wanted. */
export function listenFilter(client: Client, handlers: LinkHandlers): SubscriptionFilter | undefined {
  const { tools, prompts, resources } = client.getServerCapabilities() ?? {};
  const wanted = wantedLists(handlers);
  const filter: SubscriptionFilter = {
    ...(wanted.has('tools') && tools?.listChanged && { toolsListChanged: true }),
    ...(wanted.has('prompts') && prompts?.listChanged && { promptsListChanged: true }),
    ...(wanted.has('resources') && resources?.listChanged && { resourcesListChanged: true }),
  };
  return Object.keys(filter).length === 0 ? undefined : filter;
}

/** Call `onListChanged` for each list that may have changed while nobody listened. */
export function announceMissed(handlers: LinkHandlers, { honored }: { readonly honored: SubscriptionFilter }): void {
  if (honored.toolsListChanged) handlers.onListChanged?.('tools');
  if (honored.promptsListChanged) handlers.onListChanged?.('prompts');
  if (honored.resourcesListChanged) handlers.onListChanged?.('resources');
}

function wantedLists({ onListChanged, listKinds = ALL_LISTS }: LinkHandlers): ReadonlySet<ListKind> {
  return new Set(onListChanged === undefined ? [] : listKinds);
}

function announceLists(client: Client, handlers: LinkHandlers): () => void {
  const timers = new Map<ListKind, NodeJS.Timeout>();
  for (const kind of wantedLists(handlers)) {
    client.setNotificationHandler(`notifications/${kind}/list_changed`, () => {
      // The first starts the clock: a server that announces all the time would never be listed again otherwise.
      if (timers.has(kind)) return;
      const announceOnce = () => {
        timers.delete(kind);
        handlers.onListChanged?.(kind);
      };
      timers.set(kind, setTimeout(announceOnce, LIST_DEBOUNCE_MS));
    });
  }
  return () => timers.forEach((timer) => clearTimeout(timer));
}

/** Bound the requests of one server that are open at once. */
function requestBound(): <Answer>(work: () => Promise<Answer>) => Promise<Answer> {
  let openCount = 0;
  return async (work) => {
    if (openCount >= MAX_OPEN_REQUESTS) {
      const message = `At most ${MAX_OPEN_REQUESTS} requests are answered at once`;
      throw new ProtocolError(ProtocolErrorCode.InvalidRequest, message);
    }
    openCount++;
    try {
      return await work();
    } finally {
      openCount--;
    }
  };
}
