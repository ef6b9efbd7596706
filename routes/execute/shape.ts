/**
 * What a model API calls its calls and results: three shapes, one meaning.
 */
import type { ToolResultBlock } from '../../src/wire/blocks.ts';

/** How a reply speaks to who sent the request. */
export interface ReplyShape {
  /**
   * The member of the reply that the client appends to its conversation, as JSON without braces.
   *
   * @param resultsJson The results serialised once already.
   */
  appendix(results: readonly ToolResultBlock[], resultsJson: string): string;
}
