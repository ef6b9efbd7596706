/** A rule about a domain is about the host of the address, however that is spelled. */
import { expect, it } from 'vitest';
import { domainMatcher } from '../../../src/permissions/domain-matcher.ts';

it.each([
  ['https://example.com/a?b', 'domain:example.com'],
  ['HTTPS://EXAMPLE.com:443/', 'domain:Example.COM'],
  ['https://example.com./', 'domain:example.com'],
  ['https://user:pass@example.com/', 'domain:example.com'],
  ['https://a.b.example.com/', 'domain:*.example.com'],
  ['http://b\u00fccher.de/', 'domain:b\u00fccher.de'],
  ['http://127.1/', 'domain:127.0.0.1'],
  ['http://[0:0::1]:8080/', 'domain:[::1]:8080'],
])('%s is meant by %s', (url, spec) => {
  expect(domainMatcher(url).hits([spec], 'deny')).toBe(spec);
  expect(domainMatcher(url).covers(['domain:other.org', spec])).toEqual([spec]);
});

it.each([
  ['https://example.com.evil.org/', 'domain:example.com'],
  ['https://notexample.com/', 'domain:*.example.com'],
  ['https://example.com/', 'domain:*.example.com'],
  ['https://www.example.com/', 'domain:example.com'],
  ['https://evil.org/@example.com', 'domain:example.com'],
  ['https://example.com@evil.org/', 'domain:example.com'],
  ['https://example.com:8443/', 'domain:example.com:443'],
])('%s is not meant by %s', (url, spec) => {
  expect(domainMatcher(url).hits([spec], 'deny')).toBeUndefined();
  expect(domainMatcher(url).covers([spec])).toBeUndefined();
});

it.each([
  ['no address', 'domain:example.com'],
  ['file:///etc/passwd', 'domain:example.com'],
  [undefined, 'domain:example.com'],
  ['https://example.com/', 'domain:'],
  ['https://example.com/', 'domain:*'],
  ['https://example.com/', 'example.com'],
])('%s under %s cannot be judged: it forbids, and never allows', (url, spec) => {
  expect(domainMatcher(url).hits([spec], 'deny')).toBe(spec);
  expect(domainMatcher(url).covers([spec])).toBeUndefined();
});
