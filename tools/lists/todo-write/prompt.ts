/** What the model reads of TodoWrite. */

/** The description. */
export const TODO_WRITE_PROMPT = `Keeps the todo list of this session, so that you and the person who watches see what is done and what is left.

Use it for work of three steps or more, when you are given several things to do, or when you find new work on the way. Leave it out for a single simple step or a question.

How to use it:
- Send the whole list each time: it replaces the one before
- Keep exactly one item in_progress while you work, and mark it before you begin
- Mark an item completed as soon as it is wholly done; if it failed or is blocked, leave it in_progress and add what is needed as a new item
- Take items that no longer matter out of the list`;
