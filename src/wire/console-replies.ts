/**
 * Replies of the console's sign-in.
 */
import * as z from 'zod';
import { Count, Time } from './values.ts';

/** A ticket for the address of the console. */
export const ConsoleTicket = z.object({
  ticket: z.string().describe('Goes behind `#ticket=` into the address'),
  principal: z.string(),
  expires_at: Time,
});

/** A credential of the console. */
export const ConsoleCredential = z.object({
  credential: z.string().describe('Counts as a token of its principal; told once'),
  principal: z.string(),
  expires_at: Time,
});

/** Credentials that were ended. */
export const ConsoleRevoked = z.object({ revoked: Count.describe('Credentials that ended') });
