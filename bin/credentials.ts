/**
 * Whose token is which: the server's own and those of the settings, as digests.
 */
import { hash } from 'node:crypto';
import { SettingsError } from '../config/settings-error.ts';
import type { Settings } from '../config/settings.ts';
import { OWNER } from '../config/settings/principals.ts';
import type { Credential } from '../routes/credential.ts';
import { ensureToken } from './token-file.ts';

/** All credentials, the owner's first. @throws {SettingsError} If a principal has the server's own token. */
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
  const others = settings.principals.map(({ name, tokenSha256 }) => ({ principal: name, tokenSha256 }));
  return [{ principal: OWNER, tokenSha256: own }, ...others];
}
