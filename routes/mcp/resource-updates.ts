/**
 * Updates of resources for clients of the 2026-07-28 revision that listen at one address.
 */
import type { ServerEvent } from '@modelcontextprotocol/server';

/** Resources that one client may name when it begins to listen. */
export const MAX_LISTENED_RESOURCES = 64;

/**
 * Create a function that publishes updates. A resource that several clients have subscribed to is announced once: the
 * bus tells all of them.
 */
export function updatePublisher(publish: (event: ServerEvent) => void): (uri: string) => void {
  const justPublished = new Set<string>();
  return (uri) => {
    if (justPublished.has(uri)) return;
    justPublished.add(uri);
    queueMicrotask(() => justPublished.delete(uri));
    publish({ kind: 'resource_updated', uri });
  };
}
