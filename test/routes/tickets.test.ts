import { describe, expect, test } from 'vitest';
import { createTickets } from '../../routes/tickets.ts';

const OWNER = { principal: 'owner' };

function tickets(clock = { now: 0 }) {
  return createTickets(() => clock.now);
}

describe('a ticket', () => {
  test('is good once, for its session', () => {
    const store = tickets();
    const { ticket, expiresAt } = store.issue(OWNER, 's');
    expect(ticket).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(Date.parse(expiresAt)).toBeGreaterThan(Date.now());
    expect(store.redeem(ticket, 's')).toBe(OWNER);
    expect(store.redeem(ticket, 's')).toBeUndefined();
  });

  test('shown to another session is used up', () => {
    const store = tickets();
    const { ticket } = store.issue(OWNER, 's');
    expect(store.redeem(ticket, 'other')).toBeUndefined();
    expect(store.redeem(ticket, 's')).toBeUndefined();
  });

  test('expires, and makes room', () => {
    const clock = { now: 0 };
    const store = tickets(clock);
    const { ticket } = store.issue(OWNER, 's');
    for (let count = 1; count < 2_000; count++) store.issue(OWNER, 's');
    expect(() => store.issue(OWNER, 's')).toThrow('too many');
    clock.now = 30_000;
    expect(store.redeem(ticket, 's')).toBeUndefined();
    expect(() => store.issue(OWNER, 's')).not.toThrow();
  });
});
