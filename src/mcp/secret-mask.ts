/**
 * A server that fails may say why with the very keys it was given: those are taken out of what is passed on.
 */
import type { McpServerSettings } from './server-settings.ts';

/** Names of environment variables that hold keys. */
const SECRET_NAME = /key|token|secret|pass|auth|credential|cookie|session/i;

/** Shorter values are words that may stand anywhere (`true`, `8080`). */
const SECRET_CHARS = 8;

/**
 * Make the mask of one server.
 *
 * @returns Puts "[hidden]" in place of each configured header and of each environment variable that is named as a key.
 */
export function secretMask(settings: McpServerSettings): (text: string) => string {
  const secrets = [...new Set(secretsOf(settings))].filter((secret) => secret.length >= SECRET_CHARS);
  // The longest first: one may be part of another.
  secrets.sort((one, other) => other.length - one.length);
  return (text) => secrets.reduce((masked, secret) => masked.replaceAll(secret, '[hidden]'), text);
}

function secretsOf(settings: McpServerSettings): readonly string[] {
  if ('url' in settings) {
    // "Bearer <token>": the token alone is the secret as well.
    return Object.values(settings.headers ?? {}).flatMap((value) => [value, ...value.split(' ').slice(1)]);
  }
  return Object.entries(settings.env ?? {}).flatMap(([name, value]) => (SECRET_NAME.test(name) ? [value] : []));
}
