/**
 * The few lines any agent needs to use Gauntlet: where it is, and JSON in and out.
 *
 * `GAUNTLET_URL` (default http://127.0.0.1:4747) and `GAUNTLET_TOKEN` say which server.
 */
const url = process.env['GAUNTLET_URL'] ?? 'http://127.0.0.1:4747';
const token = process.env['GAUNTLET_TOKEN'] ?? '';

/** Call the server. @throws {Error} With the server's own message where it refuses. */
export async function gauntlet<Reply>(method: 'GET' | 'POST', path: string, body?: object): Promise<Reply> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const reply = (await response.json()) as Reply & { error?: { message: string } };
  if (!response.ok) throw new Error(`${method} ${path}: ${reply.error?.message ?? response.status}`);
  return reply;
}
