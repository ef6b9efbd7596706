/** Schema of NotebookEdit's input. */
import * as z from 'zod';

/** Input of NotebookEdit. */
export const NotebookEditInput = z.strictObject({
  notebook_path: z
    .string()
    .min(1)
    .regex(/\.ipynb$/, 'must end in .ipynb; change other files with Edit')
    .describe('The notebook: an absolute path, or one relative to the working directory'),
  cell_id: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Id of the cell as Read shows it. To insert: the cell before the new one; without it the new one is first',
    ),
  new_source: z.string().describe('The new source of the cell; not used to delete'),
  cell_type: z
    .enum(['code', 'markdown'])
    .optional()
    .describe('Kind of the cell; needed to insert, else the cell keeps its kind'),
  edit_mode: z.enum(['replace', 'insert', 'delete']).optional().describe('What to do (default replace)'),
});

/** A parsed input of NotebookEdit. */
export type NotebookEditArguments = z.output<typeof NotebookEditInput>;
