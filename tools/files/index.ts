/** The file tools: what reads and changes one file at a time. */
import { readTool } from './read/index.ts';
import type { FileToolServices } from './services.ts';

/** All file tools, in no particular order: the pool sorts. */
export function fileTools(services: FileToolServices) {
  return [readTool(services)];
}
