/** Whose token is it? */
import { hash } from 'node:crypto';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { createAuthenticator, createCachedAuthenticator } from '../../routes/credential.ts';

const authenticate = createAuthenticator([
  { principal: 'one', tokenSha256: hash('sha256', 'token-of-one') },
  { principal: 'two', tokenSha256: hash('sha256', 'token-of-two') },
]);

test('a connection is known again by the token it has shown, and by no other', () => {
  const asked: string[] = [];
  const recognise = createCachedAuthenticator((token) => {
    asked.push(token);
    return authenticate(token);
  });
  const socket = new Socket();
  const show = (token: string) => recognise(socket, token);
  expect([show('token-of-one'), show('token-of-one'), show('token-of-on\u0165')]).toEqual(['one', 'one', undefined]);
  expect([show('token-of-two'), show('token-of-one'), show('')]).toEqual(['two', 'one', undefined]);
  expect(recognise(new Socket(), 'token-of-twx')).toBeUndefined();
  expect(asked).toEqual(['token-of-one', 'token-of-on\u0165', 'token-of-two', 'token-of-one', '', 'token-of-twx']);
});
