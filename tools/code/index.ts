/** Tools that know code. */
import { lspTool } from './lsp/index.ts';
import { replTool } from './repl/index.ts';
import type { CodeToolServices } from './services.ts';

export { createCodeProcesses } from './code-processes.ts';

/** Create all tools of this domain, in no particular order; the pool sorts them. */
export function codeTools(services: CodeToolServices) {
  return [lspTool(services), replTool(services)];
}
