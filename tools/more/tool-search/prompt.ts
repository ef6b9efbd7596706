/** What the model reads of ToolSearch. */

/** The description. */
export const TOOL_SEARCH_PROMPT = `Loads the full definitions of deferred tools, so that you know how to call them.

Deferred tools are listed with a name and a short description but without their parameters. Load a tool before you call it for the first time; what this returns stays valid for the rest of the conversation.

Queries:
- "select:TaskOutput,TaskStop" loads exactly these tools by name
- "background output" finds tools by words, the best matches first
- "+slack send" finds only tools that match "slack", ordered by the other words

Each match comes back as one line of JSON with name, description and input_schema, inside a <functions> block.`;
