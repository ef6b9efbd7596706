/** Addresses that may be meant by anybody, and all the others. */
import { describe, expect, it } from 'vitest';
import { isPublicAddress } from '../../../../src/process/proxy/checked-connect.ts';

describe('an address', () => {
  it.each([
    '1.1.1.1',
    '9.255.255.255',
    '11.0.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '223.255.255.255',
    '2606:4700::1',
    '2a00::1',
  ])('is public: %s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    ...['0.0.0.0', '10.0.0.1', '100.64.0.1', '100.100.100.200', '127.0.0.1', '127.255.255.255', '169.254.169.254'],
    ...['172.16.0.1', '172.31.255.255', '192.0.0.8', '192.0.2.1', '192.88.99.1', '192.168.0.1', '198.19.255.255'],
    ...['198.51.100.1', '203.0.113.1', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255', '168.63.129.16'],
    ...[
      '::',
      '::1',
      '::ffff:7f00:1',
      '::ffff:8.8.8.8',
      '64:ff9b::7f00:1',
      '64:ff9b:1::1',
      '100::1',
      'fe80::1',
      'fec0::1',
    ],
    // No address of the public is assigned there, whatever a table of special ranges leaves out.
    ...['::7f00:1', '100:0:0:1::1', '200::1', '4000::1', '2606:4700::1%eth0'],
    ...['fc00::1', 'fd00:ec2::254', 'ff02::1', '2001::1', '2001:db8::1', '2002:7f00:1::', '3fff::1', '5f00::1'],
    ...['', 'localhost', '127.1', '2130706433', 'fe80::1%eth0', '[::1]', '1.1.1.1 '],
  ])('is not public: %s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});
