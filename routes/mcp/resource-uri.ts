/**
 * Addresses of a session's resources: `gauntlet://sessions/{id}/results/{tool_use_id}`, `…/files/{path}`, and
 * `…/servers/{name}/` before the address of an MCP server's resource, as that server has it.
 */

/** The thing that an address names. */
export type ResourceAddress = { readonly sessionId: string } & (
  | { readonly kind: 'result'; readonly toolUseId: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'upstream'; readonly server: string; readonly uri: string }
);

/** Templates of all addresses, for a session. */
export function resourceTemplates(sessionId: string) {
  const base = baseOf(sessionId);
  return [
    {
      uriTemplate: `${base}/results/{tool_use_id}`,
      name: 'Result of a call',
      description: 'The whole text of a result, also where the result itself shows a part of it',
      mimeType: 'text/plain',
    },
    {
      uriTemplate: `${base}/files/{path}`,
      name: 'Changed file',
      description: 'A file that tools of the session changed, as it is now; the path is percent-encoded',
    },
  ];
}

/** Encode one part of an address. Half of a surrogate pair, which no address can hold, becomes U+FFFD. */
export function encodePart(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'));
}

/** Address of the whole text of a result. */
export function resultUri(sessionId: string, toolUseId: string): string {
  return `${baseOf(sessionId)}/results/${encodePart(toolUseId)}`;
}

/** Address of a changed file. @param path Absolute. */
export function fileUri(sessionId: string, path: string): string {
  return `${baseOf(sessionId)}/files/${encodePart(path)}`;
}

/** Address of a resource of an MCP server, or template of such addresses. @param uri As the server has it. */
export function upstreamUri(sessionId: string, server: string, uri: string): string {
  return `${baseOf(sessionId)}/servers/${encodePart(server)}/${uri}`;
}

/** Parse an address; undefined for any other text. */
export function parseResourceUri(uri: string): ResourceAddress | undefined {
  const [, ofSession, upstream, sentUri] = /^gauntlet:\/\/sessions\/([^/]+)\/servers\/([^/]+)\/(.+)$/s.exec(uri) ?? [];
  const [owner, server] = [decoded(ofSession), decoded(upstream)];
  if (owner !== undefined && server !== undefined && sentUri !== undefined)
    return { kind: 'upstream', sessionId: owner, server, uri: sentUri };
  const [, session, kind, rest] = /^gauntlet:\/\/sessions\/([^/]+)\/(results|files)\/([^/]+)$/.exec(uri) ?? [];
  const [sessionId, name] = [decoded(session), decoded(rest)];
  if (sessionId === undefined || name === undefined) return undefined;
  return kind === 'results' ? { kind: 'result', sessionId, toolUseId: name } : { kind: 'file', sessionId, path: name };
}

function baseOf(sessionId: string): string {
  return `gauntlet://sessions/${encodeURIComponent(sessionId)}`;
}

function decoded(part: string | undefined): string | undefined {
  try {
    return part === undefined ? undefined : decodeURIComponent(part);
  } catch {
    // A broken escape: the text is no address of ours.
    return undefined;
  }
}
