/**
 * Settings of the address the server listens on and of its clients; an address that others reach needs a token and host names.
 */
import { SHORTEST_TOKEN_CHARS } from '../limits.ts';
import { SettingsError } from '../settings-error.ts';
import { isLoopback, tokenText } from './door.ts';
import type { Variables } from './environment.ts';
import { readRegularFile } from './regular-file.ts';
import type { SettingsFile } from './schema.ts';

/** Address, token and lists of the door. */
export interface DoorSettings {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Set by hand; undefined: made at first start and kept in `tokenFile`. */
  readonly token: string | undefined;
  /** Absolute path of the generated token. */
  readonly tokenFile: string;
  /** Absolute path of a token file that was set by hand, used or not. No command may read it. */
  readonly tokenFileByHand: string | undefined;
  /** Lower case, with or without a port; empty: loopback names with the port that is listened on. */
  readonly allowedHosts: readonly string[];
  /** Exact origins beside the server's own. */
  readonly allowedOrigins: readonly string[];
  /** To say once at start. */
  readonly warnings: readonly string[];
}

interface TokenByHand {
  readonly token: string;
  /** The setting it came from. */
  readonly key: string;
}

/**
 * Settings of the door, environment over file.
 *
 * @param resolvePath Makes a path absolute.
 * @throws {SettingsError} If others could reach the server and no token or no host list was set by hand.
 */
export function doorSettings(
  variables: Variables,
  file: SettingsFile,
  dataFolder: string,
  resolvePath: (path: string) => string,
): DoorSettings {
  const host = variables.GAUNTLET_HOST ?? file.host ?? '127.0.0.1';
  const byHand = tokenByHand(variables, file, resolvePath);
  const shortKey = byHand && byHand.token.length < SHORTEST_TOKEN_CHARS ? byHand.key : undefined;
  const tokenFileByHand = variables.GAUNTLET_TOKEN_FILE ?? file.tokenFile;
  const allowedHosts = variables.GAUNTLET_ALLOWED_HOSTS ?? file.allowedHosts ?? [];
  if (!isLoopback(host)) {
    if (byHand === undefined) throw refuseOpenDoor('GAUNTLET_TOKEN', 'set GAUNTLET_TOKEN to a secret of your own');
    if (shortKey !== undefined)
      throw refuseOpenDoor(shortKey, `set ${shortKey} to a token of at least ${SHORTEST_TOKEN_CHARS} characters`);
    if (allowedHosts.length === 0) {
      throw refuseOpenDoor('GAUNTLET_ALLOWED_HOSTS', 'set GAUNTLET_ALLOWED_HOSTS to the names clients use');
    }
  }
  return {
    host,
    port: variables.GAUNTLET_PORT ?? file.port ?? 4747,
    token: byHand?.token,
    tokenFile: `${dataFolder}/token`,
    tokenFileByHand: tokenFileByHand === undefined ? undefined : resolvePath(tokenFileByHand),
    allowedHosts,
    allowedOrigins: variables.GAUNTLET_ALLOWED_ORIGINS ?? file.allowedOrigins ?? [],
    warnings: shortKey === undefined ? [] : [shortTokenWarning(shortKey)],
  };
}

/** The token itself beats a file that holds it, and the environment beats the settings file. */
function tokenByHand(
  variables: Variables,
  file: SettingsFile,
  resolvePath: (path: string) => string,
): TokenByHand | undefined {
  const { GAUNTLET_TOKEN, GAUNTLET_TOKEN_FILE } = variables;
  if (GAUNTLET_TOKEN !== undefined) return { key: 'GAUNTLET_TOKEN', token: GAUNTLET_TOKEN };
  if (GAUNTLET_TOKEN_FILE !== undefined) return tokenFrom('GAUNTLET_TOKEN_FILE', resolvePath(GAUNTLET_TOKEN_FILE));
  if (file.token !== undefined) return { key: 'token', token: file.token };
  return file.tokenFile === undefined ? undefined : tokenFrom('tokenFile', resolvePath(file.tokenFile));
}

function tokenFrom(key: string, path: string): TokenByHand {
  const token = readRegularFile(key, path)?.trim();
  if (token === undefined) throw new SettingsError(key, `${key}: there is no file "${path}"; write the token to it`);
  if (!tokenText.safeParse(token).success) {
    throw new SettingsError(key, `${key}: "${path}" must hold one line of visible ASCII characters without spaces`);
  }
  return { key, token };
}

function shortTokenWarning(key: string): string {
  return `The token of ${key} has fewer than ${SHORTEST_TOKEN_CHARS} characters and can be guessed; set a longer one, or none and use the one that "gauntlet token" prints`;
}

function refuseOpenDoor(key: string, fix: string): SettingsError {
  return new SettingsError(key, `GAUNTLET_HOST is not a loopback address, so others can reach the server: ${fix}`);
}
