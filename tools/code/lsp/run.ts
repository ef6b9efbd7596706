/** Implementation of LSP: asks the right server about a file, and words its answer. */
import * as z from 'zod';
import { isInsideFolder } from '../../../config/containment.ts';
import { GauntletError } from '../../../src/base/errors.ts';
import { withCheckedFile } from '../../../src/files/open-checked.ts';
import type { ToolResult, ToolUseContext } from '../../../src/tool/tool.ts';
import type { CodeToolServices } from '../services.ts';
import { hoverText, listDiagnostics, type Listing, listPlaces, listSymbols, type ShownPaths } from './answers.ts';
import { type ConfiguredServer, holdServer, languageOf, serverPlace } from './configured-servers.ts';
import { type LanguageServer, type OpenDocument, startLanguageServer } from './language-server.ts';
import type { LspArguments } from './schema.ts';

/** A file that a server is told of; generated ones of more would take its memory. */
const MAX_FILE_BYTES = 4 * 1_024 * 1_024;

/** Progress of a call. */
export interface LspProgress {
  readonly type: 'status';
  readonly message: string;
}

/** The answer, worded. */
export interface LspOutput {
  readonly title: string;
  readonly text: string;
}

/**
 * Ask a server.
 *
 * @throws {GauntletError} `tool_failed`, `timeout`, `resource_exhausted`, each with what to do next.
 */
export async function runLsp(
  services: CodeToolServices,
  server: ConfiguredServer | undefined,
  input: LspArguments,
  context: ToolUseContext,
  onStatus: (message: string) => void,
): Promise<ToolResult<LspOutput>> {
  const located = context.located?.[0];
  if (!server || !located)
    throw new GauntletError('tool_failed', `There is no language server for "${input.filePath}"`);
  const text = await withCheckedFile(located.real, input.filePath, async (file) => {
    if (file.stats.size > MAX_FILE_BYTES) {
      const message = `Cannot ask about "${input.filePath}": it has more than ${MAX_FILE_BYTES} bytes. Use Grep and Read`;
      throw new GauntletError('tool_failed', message);
    }
    return (await file.readWhole(MAX_FILE_BYTES)).toString('utf8');
  });
  checkPosition(input, text);
  const document = { path: located.real, languageId: languageOf(server, located.real), text };
  const asking = { services, context, onStatus };
  return { data: await withServer(server, asking, (running) => answerOf(running, document, input, asking)) };
}

/** Use the session's server, started if there is none; where an older one ends under the call, a new one is asked. */
async function withServer<Result>(
  server: ConfiguredServer,
  { services, context, onStatus }: Asking,
  work: (running: LanguageServer) => Promise<Result>,
): Promise<Result> {
  const { processHost, jail, codeProcesses } = services;
  if (!codeProcesses) throw new GauntletError('tool_failed', 'No language server can be started here');
  const isHeld = (await holdServer(services, server, context)).kind === 'jail';
  if (context.isHeld === true && !isHeld)
    throw new GauntletError('contained', 'The jail is not there any more. Try again');
  const { root, permissions } = context.session;
  const place = serverPlace(server, context);
  const denied = Object.entries(permissions.rules).map(([source, rules]) => [source, rules?.deny]);
  const key = {
    sessionId: context.rootSessionId,
    place: `${root}\n${server.name}`,
    state: JSON.stringify([isHeld, place.folders, denied]),
  };
  let isNew = false;
  let used: LanguageServer | undefined;
  const start = () => {
    isNew = true;
    onStatus(`Starting the language server "${server.name}"`);
    const contained = isHeld && jail ? { jail, place } : undefined;
    return startLanguageServer({ ...server, root, processHost, ...(contained && { contained }), onStatus });
  };
  const use = () => codeProcesses.languageServers.use(key, start, (running) => work((used = running)));
  try {
    return await use();
  } catch (error) {
    if (isNew || used?.isGone !== true || context.signal.aborted) throw error;
    return use();
  }
}

/** @throws {GauntletError} `invalid_input` for a place that is not in the file. */
function checkPosition({ filePath, line, character }: LspArguments, text: string): void {
  if (line === undefined || character === undefined) return;
  const lines = text.split('\n');
  const found = lines[line - 1];
  if (found === undefined) {
    throw new GauntletError('invalid_input', `\`line\` is ${line}, and "${filePath}" has ${lines.length} lines`);
  }
  if (character <= found.length + 1) return;
  const message = `\`character\` is ${character}, and line ${line} of "${filePath}" has ${found.length} characters`;
  throw new GauntletError('invalid_input', message);
}

/** Inputs of an answer beside the server and the file. */
interface Asking {
  readonly services: CodeToolServices;
  readonly context: ToolUseContext;
  onStatus(message: string): void;
}

async function answerOf(
  server: LanguageServer,
  document: OpenDocument,
  input: LspArguments,
  { services: { privateFolders = [] }, context, onStatus }: Asking,
): Promise<LspOutput> {
  const { signal, session, sessionFolder } = context;
  const isPrivate = (path: string) =>
    privateFolders.some((folder) => isInsideFolder(folder, path)) && !isInsideFolder(sessionFolder, path);
  const shown = { cwd: session.cwd, isHidden: (path: string) => context.isReadDenied(path) || isPrivate(path) };
  return server.withDocument(document, async (uri) => {
    const loading = await server.loaded(signal, onStatus);
    const { title, text } = await worded(server, uri, input, { signal, shown });
    const complaint = server.takeComplaint();
    const notes = [
      ...(loading === undefined ? [] : [`The server is still at work (${loading}): ask again for a whole answer`]),
      ...(complaint === undefined ? [] : [`The server reported an error: ${complaint}`]),
    ];
    return { title, text: [text, ...notes].join('\n\n') };
  });
}

async function worded(
  server: LanguageServer,
  uri: string,
  { operation, filePath, line = 1, character = 1 }: LspArguments,
  { signal, shown }: { readonly signal: AbortSignal; readonly shown: ShownPaths },
): Promise<LspOutput> {
  const textDocument = { uri };
  const position = { line: line - 1, character: character - 1 };
  const place = `${filePath}:${line}:${character}`;
  const ask = (method: string, more: object) =>
    server.request(`textDocument/${method}`, { textDocument, ...more }, signal);
  try {
    switch (operation) {
      case 'definition': {
        const found = listPlaces(await ask('definition', { position }), shown);
        return listing(found, 'definition', `No definition found for ${place}: ${POINT}`);
      }
      case 'references': {
        const question = { position, context: { includeDeclaration: true } };
        const found = listPlaces(await ask('references', question), shown);
        return listing(found, 'reference', `No references found for ${place}: ${POINT}`);
      }
      case 'hover': {
        const text = hoverText(await ask('hover', { position }));
        return { title: 'Hover', text: text === '' ? `Nothing is known about ${place}: ${POINT}` : text };
      }
      case 'symbols':
        return listing(listSymbols(await ask('documentSymbol', {})), 'symbol', `${filePath} has no symbols`);
      case 'diagnostics': {
        const items = await server.diagnostics(uri, signal);
        if (items) return listing(listDiagnostics(items), 'diagnostic', `${filePath} has no errors or warnings`);
        const text = `The server has sent no diagnostics of ${filePath} yet. Ask again, or run the build`;
        return { title: 'No diagnostics yet', text };
      }
    }
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    const message = `The language server answered "${operation}" with something that the protocol does not know`;
    throw new GauntletError('tool_failed', message, { cause: error });
  }
}

const POINT = 'point at the first letter of a name';

function listing({ text, count }: Listing, what: string, none: string): LspOutput {
  const title = count === 1 ? `1 ${what}` : `${count} ${what}s`;
  return count === 0 ? { title: `No ${what}s`, text: none } : { title, text: `${title}:\n${text}` };
}
