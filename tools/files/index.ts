/** File tools: read and change one file at a time. */
import { editTool } from './edit/index.ts';
import { notebookEditTool } from './notebook-edit/index.ts';
import { readTool } from './read/index.ts';
import type { FileToolServices } from './services.ts';
import { writeTool } from './write.ts';

/** Create all file tools, in no particular order; the pool sorts them. */
export function fileTools(services: FileToolServices) {
  return [editTool(services), notebookEditTool(services), readTool(services), writeTool(services)];
}
