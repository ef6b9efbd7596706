/** What an assignment does besides giving a variable of the script's own a value. */
import type { SyntaxNode } from 'unbash';
import { isIntegerWord } from './arithmetic.ts';
import { findRecord } from './programs/index.ts';
import { isPrivateName, type Variables } from './variable-values.ts';
import { assignedText, decodeWord } from './word.ts';
import { isHarmlessVariable } from './wrappers.ts';

type Assignment = Extract<SyntaxNode, { type: 'Assignment' }>;

/**
 * Why an assignment does more than read, or undefined; looks at this node alone, not at what is below it.
 *
 * @param command The command it stands before or behind; none where it stands alone.
 */
export function assignmentProblem(node: Assignment, variables: Variables, command?: string): string | undefined {
  const isDeclared = findRecord(command ?? '')?.isDeclaring === true;
  if (!mayBeSet(node, variables, isDeclared ? undefined : command)) return `it sets "${node.name}"`;
  if (isDeclared && mayBeList(node, variables)) return `what "${node.name}" is given is evaluated as a list`;
  return evaluatesSubscript(node, variables) ? 'a subscript is evaluated as arithmetic' : undefined;
}

/** The shell's own variables stay as they are; for one command some may differ. */
function mayBeSet(node: Assignment, variables: Variables, command: string | undefined): boolean {
  if (command === undefined) return isPrivateName(node.name);
  const literal = assignedText(node, variables);
  // `IFS= read` splits that one line otherwise, and nothing else.
  const isForRead = command === 'read' && node.name === 'IFS' && literal !== undefined;
  return isForRead || isHarmlessVariable(node.name, literal);
}

/** `declare -a a='($(c))'` runs c: to an array it gives what text in brackets stands for. */
function mayBeList({ name, value }: Assignment, variables: Variables): boolean {
  if (value.type !== 'Word' || !variables.isArray(name)) return false;
  return decodeWord(value, variables).some(({ prefix }) => prefix === '' || prefix.startsWith('('));
}

/** Recognises an assignment that parses a text again as the subscript of an element: `a[$x]=1`. */
export function evaluatesSubscript({ index, value }: Assignment, variables: Variables): boolean {
  if (index && !isIntegerWord(index, variables)) return true;
  return value.type === 'ArrayValue' && value.elements.some(({ text }) => /^\[(?!\d+\]=)/.test(text));
}
