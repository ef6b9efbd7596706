/** Hosts as a proxy reads them: one spelling each, and no address in disguise. */
import { describe, expect, it } from 'vitest';
import { canonicalAddress, parseAuthority, spellEndpoint } from '../../config/authority.ts';

describe('a host as a client writes it', () => {
  it.each([
    ['example.com', 'example.com', undefined],
    ['EXAMPLE.com:8443', 'example.com', 8443],
    ['xn--bcher-kva.example:1', 'xn--bcher-kva.example', 1],
    ['1.example:65535', '1.example', 65_535],
    ['127.0.0.1:80', '127.0.0.1', 80],
    ['[::FFFF:7f00:1]:80', '::ffff:7f00:1', 80],
    ['[::ffff:127.0.0.1]', '::ffff:7f00:1', undefined],
    ['[0:0:0:0:0:0:0:1]', '::1', undefined],
  ])('is read: %s', (text, host, port) => {
    expect(parseAuthority(text)).toEqual({ host, port });
  });

  it.each([
    ...['127.1', '2130706433', '0x7f000001', '0177.0.0.1', '127.0.0.01', '0', '1.2.3.4.5', 'a.0x7f', '127.0.0.1.'],
    ...['localhost.', 'example.com.', '.example.com', 'a..b', '-a.example', 'a-.example'],
    ...['user@example.com', 'user:word@example.com', 'example.com@evil.example', 'evil.example#.example.com'],
    ...['１２７.0.0.1', 'ｅxample.com', 'exa\u212Aple.com', 'example。com', 'ex\u00adample.com', 'bücher.example'],
    ...['example.com:0', 'example.com:65536', 'example.com:', 'example.com:443:80', 'example.com:+1', 'example.com:4 '],
    ...['[::1', '::1', '[::1%eth0]', '[1.2.3.4]', '[::1]x', '', ' example.com', 'example.com\0', 'a\r\nb', 'a/b'],
    `${'a'.repeat(64)}.example`,
    `${'a.'.repeat(126)}example`,
  ])('is refused: %j', (text) => {
    expect(parseAuthority(text)).toBeUndefined();
  });

  it('reads a long one without delay', () => {
    const begunMs = performance.now();
    for (const text of ['a'.repeat(1e6), 'a.'.repeat(5e5), '['.repeat(1e6), '1'.repeat(1e6)]) parseAuthority(text);
    expect(performance.now() - begunMs).toBeLessThan(1_000);
  });

  it('is shown as it would be asked for', () => {
    expect(spellEndpoint({ host: 'a.example', port: 1 })).toBe('a.example:1');
    expect(spellEndpoint({ host: '::1', port: 2 })).toBe('[::1]:2');
    expect(canonicalAddress('not an address')).toBeUndefined();
  });
});
