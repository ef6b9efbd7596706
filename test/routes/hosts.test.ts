/** Which `Host` values reach the server. */
import { describe, expect, it } from 'vitest';
import { allowedHosts } from '../../bin/serve.ts';

describe('allowed hosts', () => {
  it('are the loopback names with the port where nobody set any', () => {
    expect([...allowedHosts([], 4747)]).toEqual(['127.0.0.1:4747', 'localhost:4747', '[::1]:4747']);
    expect(allowedHosts([], 80).has('localhost')).toBe(true);
  });

  it.each([
    ['Tools.Example.com', ['tools.example.com', 'tools.example.com:4747']],
    ['tools.example.com:443', ['tools.example.com:443']],
    ['[fd00::1]', ['[fd00::1]', '[fd00::1]:4747']],
    ['[fd00::1]:80', ['[fd00::1]:80']],
  ])('"%s" stands for %j', (configured, hosts) => {
    expect([...allowedHosts([configured], 4747)]).toEqual(hosts);
  });
});
