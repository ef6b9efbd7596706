/**
 * The `principals` setting: who has a token beside the server's own, where they may work and how much they may do.
 */
import { SettingsError } from '../settings-error.ts';
import type { PermissionSettings } from './permissions.ts';
import { principalLimits, type PrincipalLimits } from './principal-limits.ts';
import type { PolicyFile, SettingsFile } from './schema.ts';

/** The principal of the server's own token. */
export const OWNER = 'owner';

/** Names that say something else where a principal's could stand: `by` of an answer. */
const TAKEN: readonly string[] = [OWNER, 'timeout', 'rule', 'cancelled'];

/** A principal beside the owner. */
export interface PrincipalSettings {
  readonly name: string;
  /** 64 hex digits in lower case; undefined: it comes with signed tokens alone. */
  readonly tokenSha256: string | undefined;
  /** Real paths of folders that were there at the start; none: it has no sessions of its own. */
  readonly roots: readonly string[];
  /** The mode that lets most through of those its sessions may have; undefined: any. */
  readonly maxMode: PermissionSettings['defaultMode'] | undefined;
  readonly limits: PrincipalLimits;
}

/**
 * Check what a schema cannot: that names and tokens are one principal's each, and that roots are folders.
 *
 * @param limits The server's, and the policy's above all.
 * @param realFolder Real path of a folder as the file spells it; undefined where there is none.
 * @param hasSignedTokens True if a principal may come without a token of its own.
 * @throws {SettingsError} Naming the key. Digests are never repeated.
 */
export function principalSettings(
  principals: SettingsFile['principals'] = [],
  limits: { readonly server: PrincipalLimits; readonly policy: PolicyFile['limits'] },
  realFolder: (path: string) => string | undefined,
  hasSignedTokens = false,
): readonly PrincipalSettings[] {
  return principals.map(({ name, tokenSha256, roots, maxMode, limits: own }, index) => {
    const before = principals.slice(0, index);
    if (TAKEN.includes(name)) throw refusal(index, 'name', `"${name}" is taken by the server; choose another name`);
    if (before.some((other) => other.name === name)) throw refusal(index, 'name', 'appears twice; choose another name');
    if (tokenSha256 === undefined && !hasSignedTokens)
      throw refusal(index, 'tokenSha256', 'is required, since no "mcpAuthorization.principalClaim" is set');
    if (tokenSha256 !== undefined && before.some((other) => other.tokenSha256 === tokenSha256)) {
      throw refusal(index, 'tokenSha256', 'is the token of two principals; give each one of its own');
    }
    const realRoots = roots.map((root, place) => {
      const real = realFolder(root);
      if (real === undefined) throw refusal(index, `roots.${place}`, `"${root}" is not a folder; name one that exists`);
      return real;
    });
    return { name, tokenSha256, roots: realRoots, maxMode, limits: principalLimits(limits.server, own, limits.policy) };
  });
}

function refusal(index: number, field: string, why: string): SettingsError {
  const key = `principals.${index}.${field}`;
  return new SettingsError(key, `"${key}" ${why}`);
}
