/**
 * What most protocol tests begin with: a client of the server that is tested, and a folder of their own in its
 * workspace.
 */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { removeAfterTests, startServer } from './built-server.ts';
import { wireClient, type ServerAddress, type WireClient } from './wire-client.ts';

/** A place to test in. */
export interface SharedWorkspace {
  readonly server: ServerAddress;
  readonly client: WireClient;
  /** Absolute; gone after the last test of the file. */
  readonly folder: string;
}

/** The server that a whole file shares: the one named by the environment, else one started for it. */
export async function sharedServer(): Promise<ServerAddress> {
  const { GAUNTLET_TEST_URL: url, GAUNTLET_TEST_TOKEN: token, GAUNTLET_TEST_WORKSPACE: workspace } = process.env;
  if (url !== undefined && token !== undefined && workspace !== undefined) return { url, token, workspace };
  return startServer();
}

/** Make it, in `beforeAll`. @param name What the folder's name begins with. */
export async function sharedWorkspace(name: string): Promise<SharedWorkspace> {
  const server = await sharedServer();
  const folder = mkdtempSync(join(server.workspace, `${name}-`));
  removeAfterTests(folder);
  return { server, client: wireClient(server), folder };
}
