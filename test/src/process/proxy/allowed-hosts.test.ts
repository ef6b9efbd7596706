/** Lists of hosts: what they cover, alone and together. */
import { describe, expect, it } from 'vitest';
import { allowedHosts } from '../../../../src/process/proxy/allowed-hosts.ts';

describe('a list of hosts', () => {
  const { covers, isListed } = allowedHosts([['a.example', '*.b.example', 'c.example:8080', '10.0.0.7:81', '[::1]']]);

  it.each([
    ['a.example', 80],
    ['a.example', 443],
    ['x.b.example', 443],
    ['x.y.b.example', 80],
    ['c.example', 8080],
    ['10.0.0.7', 81],
    ['::1', 80],
  ])('covers %s at port %i', (host, port) => {
    expect(covers(host, port)).toBe(true);
  });

  it.each([
    ['a.example', 22],
    ['x.a.example', 443],
    ['aXexample', 443],
    ['b.example', 443],
    ['xb.example', 443],
    ['.b.example.evil', 443],
    ['c.example', 443],
    ['10.0.0.7', 80],
    ['::ffff:a00:7', 81],
    ['', 443],
  ])('does not cover %s at port %i', (host, port) => {
    expect(covers(host, port)).toBe(false);
  });

  it('tells which hosts it names themselves', () => {
    expect(['a.example', 'c.example', '::1', 'x.b.example', 'b.example'].filter(isListed)).toEqual([
      'a.example',
      'c.example',
      '::1',
    ]);
  });
});

describe('several lists of hosts', () => {
  it('cover what each of them covers', () => {
    const { covers, names } = allowedHosts([
      ['*.a.example', 'b.example', 'c.example:8080'],
      ['x.a.example', 'b.example:443', 'c.example'],
    ]);
    expect(covers('x.a.example', 80)).toBe(true);
    expect(covers('y.a.example', 80)).toBe(false);
    expect(covers('b.example', 443)).toBe(true);
    expect(covers('b.example', 80)).toBe(false);
    expect(names).toEqual(['b.example', 'x.a.example', 'b.example:443']);
  });

  it('cover nothing when there is none, or one is empty', () => {
    expect(allowedHosts([]).covers('a.example', 443)).toBe(false);
    expect(allowedHosts([['a.example'], []])).toMatchObject({ names: [] });
    expect(allowedHosts([['a.example'], []]).covers('a.example', 443)).toBe(false);
  });

  it('with an entry that is no host are refused', () => {
    expect(() => allowedHosts([['127.1']])).toThrow(RangeError);
    expect(() => allowedHosts([['*.10.0.0.7']])).toThrow(RangeError);
  });
});
