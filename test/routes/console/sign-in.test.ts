/** Tickets and credentials of the console, over a real store. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openSignIn } from '../../../routes/console/sign-in.ts';
import { DEFAULT_LIMITS } from '../../../config/limits.ts';
import { openSqliteLog } from '../../../src/log/sqlite-log.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const HOUR_MS = 60 * 60_000;
const TOKENS = [
  { principal: 'owner', tokenSha256: sha256('one') },
  { principal: 'ann', tokenSha256: sha256('two') },
];
const OWNER = { principal: 'owner' };

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function openStore(folder = temporaryFolder()) {
  const log = openSqliteLog({ folder, limits: DEFAULT_LIMITS, durability: 'process' });
  onTestFinished(() => log.close());
  return { folder, store: log.store };
}

async function world() {
  const { folder, store } = openStore();
  const clock = { now: Date.now() };
  const open = (tokens = TOKENS) => openSignIn({ store, tokens, now: () => clock.now });
  return { folder, clock, open, signIn: await open() };
}

/** Sign in as the caller does. */
async function credentialOf(
  signIn: Awaited<ReturnType<typeof openSignIn>>,
  caller: Parameters<typeof signIn.issueTicket>[0] = OWNER,
) {
  const issued = await signIn.exchange(signIn.issueTicket(caller).ticket);
  if (issued === undefined) throw new Error('The ticket was refused');
  return issued.credential;
}

it('exchanges a ticket once, for a credential of its principal that lives twelve hours', async () => {
  const { signIn, clock } = await world();
  const { ticket } = signIn.issueTicket({ principal: 'ann' });
  const issued = await signIn.exchange(ticket);
  expect(issued).toMatchObject({ principal: 'ann', expiresAt: new Date(clock.now + 12 * HOUR_MS).toISOString() });
  expect(await signIn.exchange(ticket)).toBeUndefined();
  expect(signIn.find(issued?.credential ?? '')?.principal).toBe('ann');
  expect(signIn.find(`${issued?.credential}x`)).toBeUndefined();
  clock.now += 12 * HOUR_MS;
  expect(signIn.find(issued?.credential ?? '')).toBeUndefined();
});

it('keeps credentials over a restart, and stores no text of them', async () => {
  const { signIn, open, folder } = await world();
  const credential = await credentialOf(signIn);
  expect((await open()).find(credential)?.principal).toBe('owner');
  const stored = ['log.db', 'log.db-wal'].map((name) => readFileSync(join(folder, name), 'latin1')).join('');
  expect(stored).toContain('console-credentials');
  expect(stored).not.toContain(credential.slice(-20));
});

it('ends credentials of a principal that is gone, or whose token changed', async () => {
  const { signIn, open } = await world();
  const owners = await credentialOf(signIn);
  const anns = await credentialOf(signIn, { principal: 'ann' });
  const changed = await open([{ principal: 'owner', tokenSha256: sha256('another') }]);
  expect([owners, anns].map((credential) => changed.find(credential))).toEqual([undefined, undefined]);
});

it('makes by a credential only what ends with it', async () => {
  const { signIn, clock } = await world();
  const first = signIn.find(await credentialOf(signIn));
  if (first === undefined) throw new Error('There is no credential');
  clock.now += HOUR_MS;
  const second = await credentialOf(signIn, { principal: 'owner', credential: first });
  expect(signIn.find(second)?.expiresAt).toBe(first.expiresAt);
  const { ticket } = signIn.issueTicket({ principal: 'owner', credential: first });
  expect(await signIn.revoke(first)).toBe(2);
  expect(signIn.find(second)).toBeUndefined();
  expect(await signIn.exchange(ticket)).toBeUndefined();
});

it('keeps a bounded number of a principal, and revokes all of one', async () => {
  const { signIn, open } = await world();
  const anns = await credentialOf(signIn, { principal: 'ann' });
  const all = [];
  for (let count = 0; count < 33; count += 1) all.push(await credentialOf(signIn));
  expect(all.filter((credential) => signIn.find(credential) === undefined)).toEqual(all.slice(0, 1));
  expect(await signIn.revokeAll('owner')).toBe(32);
  const reopened = await open();
  expect(all.some((credential) => reopened.find(credential))).toBe(false);
  expect(reopened.find(anns)).toBeDefined();
});

it('takes back the tickets of a principal with its credentials', async () => {
  const { signIn } = await world();
  const { ticket } = signIn.issueTicket(OWNER);
  const anns = signIn.issueTicket({ principal: 'ann' });
  expect(await signIn.revokeAll('owner')).toBe(0);
  expect(await signIn.exchange(ticket)).toBeUndefined();
  expect(await signIn.exchange(anns.ticket)).toBeDefined();
});

it('gives no credential for a ticket whose principal revokes while the disk is waited for', async () => {
  const { signIn, open } = await world();
  const maker = signIn.find(await credentialOf(signIn));
  const byToken = signIn.exchange(signIn.issueTicket(OWNER).ticket);
  const byCredential = signIn.exchange(signIn.issueTicket({ ...OWNER, credential: maker! }).ticket);
  const revoked = await signIn.revokeAll('owner');
  expect([revoked, await byToken, await byCredential]).toEqual([3, undefined, undefined]);
  expect(await (await open()).revokeAll('owner')).toBe(0);
});

it('keeps no more than the bounded number of those that sign in at once', async () => {
  const { signIn } = await world();
  const tickets = Array.from({ length: 40 }, () => signIn.issueTicket(OWNER).ticket);
  await Promise.all(tickets.map((ticket) => signIn.exchange(ticket)));
  expect(await signIn.revokeAll('owner')).toBe(32);
});

it('makes by a signed token what ends when that expires, for principals without another token, too', async () => {
  const { store } = openStore();
  const now = Date.now();
  const signIn = await openSignIn({ store, tokens: TOKENS, signedPrincipals: ['ann', 'ben'], now: () => now });
  for (const principal of ['ann', 'ben']) {
    const credential = await credentialOf(signIn, { principal, tokenEndsMs: now + HOUR_MS });
    expect(signIn.find(credential)).toMatchObject({ principal, expiresAt: new Date(now + HOUR_MS).toISOString() });
  }
  const late = signIn.issueTicket({ principal: 'ann', tokenEndsMs: now - 1 });
  expect(await signIn.exchange(late.ticket)).toBeUndefined();
});

it('cuts what a revoked credential holds open, and not what ended by itself', async () => {
  const { signIn } = await world();
  const credential = signIn.find(await credentialOf(signIn));
  const destroyed: string[] = [];
  const connection = (name: string) => {
    const closing: (() => void)[] = [];
    return {
      destroy: () => destroyed.push(name),
      once: (_event: 'close', ended: () => void) => closing.push(ended),
      closing,
    };
  };
  const [open, closed] = [connection('open'), connection('closed')];
  credential?.attach(open);
  credential?.attach(closed);
  for (const ended of closed.closing) ended();
  await signIn.revokeAll('owner');
  expect(destroyed).toEqual(['open']);
});
