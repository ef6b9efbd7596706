/**
 * A host that sandboxed commands may reach, as the settings file writes it.
 */
import { isIP } from 'node:net';
import { z } from 'zod';

const HIGHEST_PORT = 65_535;
/** A name's last label begins with a letter: others are read as addresses by some programs. */
const NAME = /^(\*\.)?([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** A name, all names below one, or an address; with a port or without. */
export const reachableHost = z
  .string()
  .toLowerCase()
  .refine(
    isReachable,
    'must be hosts such as "example.com", "*.example.com", "example.com:8443" or "10.0.0.7:8080", in ASCII and without a scheme',
  );

function isReachable(text: string): boolean {
  const [, bracketed, plain = '', port = '443'] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d{1,5}))?$/.exec(text) ?? [];
  if (Number(port) < 1 || Number(port) > HIGHEST_PORT) return false;
  if (bracketed !== undefined) return isIP(bracketed) === 6 && !bracketed.includes('%');
  return isIP(plain) === 4 || (plain.length <= 253 && NAME.test(plain));
}
