/**
 * Addresses inside the console: what stands behind `#`, so that nothing of it is ever sent to a server.
 */

/** Names of the views. */
export const VIEWS = ['sessions', 'questions', 'try', 'explain', 'search', 'server'] as const;
export type ViewName = (typeof VIEWS)[number];

/** Names of the parts of a session's view. */
export const SESSION_TABS = ['thread', 'timing', 'tasks', 'changes', 'rules'] as const;
export type SessionTab = (typeof SESSION_TABS)[number];

/** A place in the console. */
export interface Place {
  readonly view: ViewName;
  readonly sessionId?: string;
  readonly tab?: SessionTab;
  readonly callId?: string;
  readonly query?: string;
}

/** Read a place; whatever is not one is the list of sessions. */
export function readPlace(hash: string): Place {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const [view = '', id, tab] = path.split('/').map(decode);
  const parameters = new URLSearchParams(search);
  const sessionId = view === 'sessions' ? id : (parameters.get('session') ?? undefined);
  const callId = parameters.get('call') ?? undefined;
  const query = parameters.get('q') ?? undefined;
  return {
    view: VIEWS.find((name) => name === view) ?? 'sessions',
    ...(sessionId && { sessionId }),
    ...(sessionId && view === 'sessions' && { tab: SESSION_TABS.find((name) => name === tab) ?? 'thread' }),
    ...(callId && { callId }),
    ...(query && { query }),
  };
}

/** Write a place as what stands behind `#`. */
export function hrefOf({ view, sessionId, tab, callId, query }: Place): string {
  const isSession = view === 'sessions' && sessionId !== undefined;
  const path = isSession ? [view, encodeURIComponent(sessionId), ...(tab && tab !== 'thread' ? [tab] : [])] : [view];
  const parameters = new URLSearchParams({
    ...(!isSession && sessionId && { session: sessionId }),
    ...(callId && { call: callId }),
    ...(query && { q: query }),
  }).toString();
  return `#/${path.join('/')}${parameters && `?${parameters}`}`;
}

/** The ticket of an address that a server printed. */
export function ticketOf(hash: string): string | undefined {
  return new URLSearchParams(hash.replace(/^#\/?/, '')).get('ticket') ?? undefined;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return '';
  }
}
