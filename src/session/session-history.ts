/**
 * Interface to a session's past for the routes: results, search, export, and permissions tested against it.
 */
import type { PermissionUpdate } from '../wire/permission-context.ts';
import type { ResultTextPage, SearchHit, TestedPermissions } from '../wire/session-replies.ts';
import { exportSession, type ExportFormat } from './export-session.ts';
import type { SessionCore } from './session-core.ts';
import { type TestOptions, testPermissions } from './test-permissions.ts';
import { resultTextPage, searchResults, type TextRange } from './turn/stored-result.ts';

/** Hits of one search of the transcript. */
const MAX_SEARCH_HITS = 100;

/** Readings of a session's log. */
export interface SessionHistory {
  /** Read a range of a result's whole text. @throws {GauntletError} as `resultTextPage` */
  resultText(toolUseId: string, range: TextRange): Promise<ResultTextPage>;
  /** Find calls whose shown text holds the query. */
  search(query: string): Promise<readonly SearchHit[]>;
  /** Yield the whole session as a text. */
  export(format: ExportFormat): AsyncIterable<string>;
  /** Decide about the latest calls under changed permissions, without changing them. @throws as `testPermissions` */
  testPermissions(updates: readonly PermissionUpdate[], options: TestOptions): Promise<TestedPermissions>;
}

/** Create the interface for one session. */
export function sessionHistory(core: SessionCore): SessionHistory {
  return {
    resultText: (toolUseId, range) => resultTextPage(core, toolUseId, range),
    search: (query) => searchResults(core, query, MAX_SEARCH_HITS),
    export: (format) => exportSession(core, format),
    testPermissions: (updates, options) => testPermissions(core, updates, options),
  };
}
