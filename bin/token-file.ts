/**
 * The generated token: created once, and stored in a file that only its owner can read.
 */
import { hash, randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, lstatSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { SettingsError } from '../config/settings-error.ts';
import type { Settings } from '../config/settings.ts';
import { tokenText } from '../config/settings/door.ts';
import { OWNER } from '../config/settings/principals.ts';
import { readRegularFile } from '../config/settings/regular-file.ts';
import type { Credential } from '../routes/credential.ts';
import { DATA_FILES, ensurePrivateFolder } from '../src/log/private-folder.ts';

/** As long as the digest it is compared by. */
const TOKEN_BYTES = 32;

const GROUP_AND_OTHERS = 0o077;

/**
 * Return the bearer token: the configured one, else the one in the data directory, created if absent.
 *
 * @throws {SettingsError} If the file or its folder belongs to another user, or others may read it.
 */
export function ensureToken(settings: Pick<Settings, 'token' | 'tokenFile'>): string {
  if (settings.token !== undefined) return settings.token;
  ensurePrivateFolder(dirname(settings.tokenFile), DATA_FILES);
  return readToken(settings.tokenFile) ?? makeToken(settings.tokenFile);
}

/** @returns `undefined` if there is none. */
function readToken(path: string): string | undefined {
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (!status) return undefined;
  if (!status.isFile() || status.uid !== process.getuid?.())
    throw refuse(`"${path}" is not a regular file of this user; remove it`);
  if ((status.mode & GROUP_AND_OTHERS) !== 0)
    throw refuse(`others may read "${path}"; remove it, and a new token is made`);
  const token = readRegularFile('GAUNTLET_DATA_DIR', path)?.trim() ?? '';
  if (!tokenText.safeParse(token).success) throw refuse(`"${path}" holds no token; remove it, and a new one is made`);
  return token;
}

function makeToken(path: string): string {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const draft = `${path}.${process.pid}`;
  const descriptor = openSync(draft, 'wx', 0o600);
  try {
    writeSync(descriptor, `${token}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  try {
    // A hard link never replaces a file: of two servers that start at once, one token wins and both use it.
    linkSync(draft, path);
    return token;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return readToken(path) ?? token;
  } finally {
    unlinkSync(draft);
  }
}

function refuse(why: string): SettingsError {
  return new SettingsError('GAUNTLET_DATA_DIR', `GAUNTLET_DATA_DIR: ${why}`);
}

/** List all credentials, the owner's first. @throws {SettingsError} If a principal has the server's own token. */
export function credentials(settings: Settings): readonly Credential[] {
  const own = hash('sha256', ensureToken(settings));
  const clash = settings.principals.findIndex(({ tokenSha256 }) => tokenSha256 === own);
  if (clash !== -1) {
    const key = `principals.${clash}.tokenSha256`;
    throw new SettingsError(
      key,
      `"${key}" is the digest of the server's own token; give each principal one of its own`,
    );
  }
  const others = settings.principals.flatMap(({ name, tokenSha256 }) =>
    tokenSha256 === undefined ? [] : [{ principal: name, tokenSha256 }],
  );
  return [{ principal: OWNER, tokenSha256: own }, ...others];
}
