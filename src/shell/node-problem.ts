/**
 * Side effects of one node of the syntax tree, without its children.
 *
 * A node that is neither harmless nor known here makes the line not read-only.
 */
import type { ParameterExpansionPart, SyntaxNode, Word } from 'unbash';
import { arithmeticProblem, isIntegerWord } from './arithmetic.ts';
import { isPrivateName, type Variables } from './variable-values.ts';

/** Nodes that only group others. */
export const HARMLESS_NODES: ReadonlySet<SyntaxNode['type']> = new Set<SyntaxNode['type']>([
  'Statement',
  'CompoundList',
  'Pipeline',
  'AndOr',
  'Time',
  'Negation',
  'If',
  'Elif',
  'While',
  'Case',
  'BraceGroup',
  'Redirected',
  'Literal',
  'SingleQuoted',
  'DoubleQuoted',
  'AnsiCQuoted',
  'Glob',
  'BraceExpansion',
  'SimpleExpansion',
  'HereDoc',
  'HereDocBody',
  'HereDocDelimiter',
  'HereString',
  'ArrayValue',
  'FileDescriptor',
  'Remove',
  'Replace',
  'CaseModification',
  'Default',
  'ArithmeticFor',
  'ArithmeticGroup',
  'ArithmeticBinary',
  'ArithmeticUnary',
  'ArithmeticTernary',
  'TestLogical',
  'TestNot',
  'TestGroup',
]);

/** Explain why a node does more than read, or return undefined. */
export function nodeProblem(node: SyntaxNode, variables: Variables): string | undefined {
  switch (node.type) {
    case 'CommandExpansion':
    case 'ProcessSubstitution':
      return undefined;
    case 'Word':
      return wordCountProblem(node);
    case 'For':
    case 'Select':
      return isPrivateName(node.name.value) && !node.name.parts ? undefined : `a loop assigns "${node.name.text}"`;
    case 'ParameterExpansion':
      return expansionProblem(node, variables);
    case 'Slice': {
      const evaluated = [node.offset, node.length].find((word) => word && !isIntegerWord(word, variables));
      return evaluated && `"${evaluated.text}" is evaluated as arithmetic`;
    }
    case 'Transform':
      return /^[QULu]$/.test(node.operand.text) ? undefined : `"@${node.operand.text}" evaluates a value`;
    case 'ArithmeticExpansion':
    case 'ArithmeticCommand':
      return node.expression ? undefined : 'an arithmetic expression cannot be parsed';
    case 'ArithmeticWord':
    case 'ArithmeticCommandExpansion':
      return arithmeticProblem(node, variables);
    case 'TestUnary':
      return /^-[vR]$/.test(node.operator) ? `"${node.operator}" evaluates a subscript` : undefined;
    case 'TestBinary': {
      if (!/^-(?:eq|ne|lt|le|gt|ge)$/.test(node.operator)) return undefined;
      const isSafe = [node.left, node.right].every((word) => isIntegerWord(word, variables));
      return isSafe ? undefined : `"${node.operator}" evaluates its operands as arithmetic`;
    }
    case 'Coproc':
      return 'it starts a coprocess';
    case 'FileDescriptorVariable':
      return 'a redirection assigns a variable';
    default:
      // A later version of the parser may have syntax that is not handled here.
      return 'the command holds syntax that is not known';
  }
}

/** Nodes that parse a text again as a subscript, an arithmetic expression, a name or a prompt. */
const EVALUATING_NODES: ReadonlySet<SyntaxNode['type']> = new Set<SyntaxNode['type']>([
  'Slice',
  'Transform',
  'ArithmeticWord',
  'ArithmeticCommand',
  'ArithmeticExpansion',
  'ArithmeticCommandExpansion',
  'TestBinary',
]);

/** Report whether a node with a problem may run text that it does not show. */
export function evaluatesUnseen(node: SyntaxNode): boolean {
  if (node.type === 'TestUnary') return node.operand.parts !== undefined || /[[$`]/.test(node.operand.value);
  if (node.type === 'ParameterExpansion') return node.prefix === '!' || node.index !== undefined;
  return EVALUATING_NODES.has(node.type);
}

function expansionProblem(
  { text, prefix, parameter, index, operation }: ParameterExpansionPart,
  variables: Variables,
): string | undefined {
  const isList = index !== undefined && /^[@*]$/.test(index.text);
  if (prefix === '!' && !(isList && !operation)) return `"${text}" expands what another variable names`;
  if (index && !isList && !isIntegerWord(index, variables)) return 'a subscript is evaluated as arithmetic';
  const isSet = operation?.type === 'Default' && operation.operator.endsWith('=');
  return isSet && !isPrivateName(parameter) ? `it sets "${parameter}"` : undefined;
}

/** Upper bound of the words that one word may expand to. */
const MAX_WORDS = 100_000;

/**
 * Explain why a word may expand to more than a shell can hold, or return undefined. `{1..999999999}` exhausts the
 * memory before anything runs.
 */
function wordCountProblem({ parts, text }: Word): string | undefined {
  if (!parts?.some(({ type }) => type === 'BraceExpansion')) return undefined;
  let count = 1;
  // Nested or adjacent, each range multiplies the count by at most its own length. The lookbehind starts the search at
  // the beginning of a name only; otherwise a long name would be scanned from each of its letters.
  for (const [, first = '', last = ''] of text.matchAll(/(-?(?<!\w)\w+)\.\.(-?\w+)/g)) {
    const span = Math.abs(Number(last) - Number(first)) + 1;
    count *= Number.isNaN(span) ? 128 : span;
  }
  for (const brace of text.split('{').slice(1)) count *= brace.split(',').length;
  return count > MAX_WORDS ? `"${text.slice(0, 40)}" becomes too many words` : undefined;
}
