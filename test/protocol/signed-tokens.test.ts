/** PROTOCOL 1 and 9: a principal with a signed token of an authorization server. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, it, onTestFinished } from 'vitest';
import { serverHome, startServer } from '../helpers/built-server.ts';
import { tokenIssuer } from '../helpers/token-issuer.ts';
import { wireClient } from '../helpers/wire-client.ts';

const PUBLIC_URL = 'https://gauntlet.example';

it('a principal comes with a signed token alone, over HTTP and as an MCP client', async () => {
  const { issuer, sign } = await tokenIssuer(PUBLIC_URL);
  const home = serverHome();
  mkdirSync(join(home, 'workspace/hers'), { recursive: true });
  const server = await startServer({
    home,
    settings: {
      publicUrl: PUBLIC_URL,
      mcpAuthorization: { servers: [issuer], scopes: ['gauntlet'], principalClaim: 'preferred_username' },
      principals: [{ name: 'ann', roots: ['hers'] }],
    },
  });
  const ann = wireClient({ ...server, token: await sign() });
  const id = await ann.session();
  expect((await ann.get(`/sessions/${id}`)).body['cwd']).toBe(join(home, 'workspace/hers'));
  expect((await wireClient(server).get(`/sessions/${id}`)).status).toBe(404);
  expect((await wireClient({ ...server, token: await sign({}, { expires: '1m ago' }) }).get('/tools')).status).toBe(
    401,
  );

  const mcp = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  const authorization = `Bearer ${await sign({ aud: `${PUBLIC_URL}/mcp` })}`;
  const requestInit = { headers: { authorization } };
  await mcp.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit }));
  onTestFinished(() => mcp.close());
  expect((await mcp.listTools()).tools.length).toBeGreaterThan(0);

  const stream = await ann.stream(id);
  await stream.close();
});
