/** The network of a sandbox that may reach some hosts, seen from inside by real programs. */
import { hash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SandboxOptions } from '../../../src/process/sandbox.ts';
import { testSandbox } from '../../helpers/sandboxes.ts';

/** What the names of these tests lead to. */
const ADDRESSES: Readonly<Record<string, string>> = { 'allowed.test': '127.0.0.1', 'private.test': '10.1.2.3' };
const lookup: SandboxOptions['lookup'] = (name) =>
  Promise.resolve([{ address: ADDRESSES[name] ?? '203.0.113.9', family: 4 }]);

const LARGE = randomBytes(16 * 1_024 * 1_024);
const DIGEST = hash('sha256', LARGE);

describe('a sandbox with a list of hosts', async () => {
  const server = createServer((request, reply) => {
    const location = `http://evil.test:${port}/`;
    if (request.url === '/large') reply.end(LARGE);
    else if (request.url === '/away') reply.writeHead(302, { location }).end();
    else request.pipe(reply.setHeader('x-host', request.headers.host ?? ''));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const at = `allowed.test:${port}`;
  const box = testSandbox({ network: { allow: [[at, `127.0.0.1:${port}`, `private.test:${port}`]] }, lookup });
  beforeAll(() => box.denied.splice(0));
  afterAll(() => server.close());

  it('reaches a host on it, plainly and through a tunnel', async () => {
    const { stdout, stderr } = await box.shell(
      `curl -sS -d one http://${at}/; echo; curl -sSp -d two http://${at}/; echo; wget -qO- --post-data three http://${at}/`,
    );
    expect(stderr).toBe('');
    expect(stdout).toBe('one\ntwo\nthree');
  });

  it('gets and sends large files whole, at any pace', async () => {
    const slowly = `(sleep 0.2; cat) | sha256sum`;
    const { stdout } = await box.shell(
      `curl -sSp http://${at}/large | ${slowly}; curl -sS http://${at}/large >f; sha256sum <f; curl -sSpT f http://${at}/ | ${slowly}`,
    );
    expect(stdout.match(/[0-9a-f]{64}/g)).toEqual([DIGEST, DIGEST, DIGEST]);
  });

  it('is kept from any other, which names the setting', async () => {
    const { stdout } = await box.shell(
      `curl -s http://evil.test/; curl -sp -o /dev/null -w '%{http_connect} ' http://evil.test/; curl -sLo /dev/null -w '%{http_code}' http://${at}/away`,
    );
    expect(stdout).toBe(
      'Cannot reach "evil.test:80" from the sandbox: it is not on the list, "sandbox.network.allow"\n403 403',
    );
    expect(box.denied).toEqual(['s evil.test:80', 's evil.test:80', `s evil.test:${port}`]);
  });

  it('leaves a command the descriptors it would have, and nothing of the server’s', async () => {
    const { stdout } = await box.shell(`ls /proc/$$/fd; ls ${box.at('data')}; grep -c canary /proc/*/environ`);
    expect(stdout.split('\n').slice(0, 4)).toEqual(['0', '1', '2', 'sessions']);
  });

  it('is kept from a listed name that leads inside', async () => {
    const { stdout } = await box.shell(`curl -s http://private.test:${port}/`);
    expect(stdout).toContain('neither public nor on the list');
  });

  it('has no other network, and no names', async () => {
    const { stdout } = await box.shell(
      `curl -sS --noproxy '*' http://127.0.0.1:${port}/ 2>&1; (exec 5<>/dev/tcp/1.1.1.1/443) 2>&1; getent hosts allowed.test example.com; tail -n +3 /proc/net/dev | cut -d: -f1`,
    );
    expect(stdout).toContain("Couldn't connect");
    expect(stdout).toContain('Network is unreachable');
    expect(stdout.trim().split('\n').at(-1)?.trim()).toBe('lo');
  });

  it('keeps its own loopback', async () => {
    const serve = `require('http').createServer((q, s) => s.end('own')).listen(8080, '127.0.0.1', () => console.log('up'))`;
    const { stdout } = await box.shell(
      `exec 5< <(exec '${process.execPath}' -e "${serve}"); read -u 5; curl -sS http://localhost:8080/`,
    );
    expect(stdout).toBe('own');
  });
});
