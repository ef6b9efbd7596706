/** `gauntlet tools`: prints the tools of the running server. */
import { findServer, readText, send } from '../server-client.ts';

/** Print the tools as a table, or as JSON with schemas. @returns The exit code. */
export async function printTools(given: {
  readonly environment: NodeJS.ProcessEnv;
  readonly options: Readonly<Record<string, string | true>>;
}): Promise<number> {
  const { url, json } = given.options;
  const server = findServer(given.environment, typeof url === 'string' ? url : undefined);
  const path = json ? '/tools?schemas=full' : '/tools?format=table';
  const text = await readText(await send(server, { method: 'GET', path, accept: json ? 'application/json' : '*/*' }));
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
  return 0;
}
