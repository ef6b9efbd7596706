/**
 * Judges arithmetic, which evaluates text: a variable's value is parsed again, and a subscript in it runs commands.
 *
 * Only integers, and variables that always hold integers, are harmless.
 */
import type { ArithmeticExpression, Word } from 'unbash';
import type { Variables } from './variable-values.ts';
import { decodeWord } from './word.ts';

const INTEGER = /^(?:\d+|0[xX][\da-fA-F]+|\d{1,2}#\w+)$/;
const NAME = /^[A-Za-z_]\w*$/;
const ELEMENT = /^([A-Za-z_]\w*)\[([^[\]]+)\]$/;

/** Explain why an expression may evaluate text, or return undefined. Examines this node only. */
export function arithmeticProblem(node: ArithmeticExpression, variables: Variables): string | undefined {
  if (node.type === 'ArithmeticCommandExpansion') {
    return variables.isIntegerOutput(node.script) ? undefined : 'arithmetic on the output of a command evaluates it';
  }
  if (node.type !== 'ArithmeticWord') return undefined;
  if (node.parts) return isIntegerParts(node.parts, variables) ? undefined : evaluates(node.value);
  return isIntegerText(node.value.trim(), variables) ? undefined : evaluates(node.value);
}

/** Report whether a word, evaluated as arithmetic, can only be an integer: subscripts, slices, operands of `-eq`. */
export function isIntegerWord(word: Word, variables: Variables): boolean {
  const [only, ...others] = decodeWord(word, variables);
  if (!only || others.length > 0) return false;
  if (only.isInteger) return true;
  if (only.literal === undefined) return false;
  return isIntegerText(only.literal.trim().replace(/^[-+]\s*/, ''), variables);
}

function isIntegerText(text: string, variables: Variables): boolean {
  if (INTEGER.test(text)) return true;
  if (NAME.test(text)) return variables.isInteger(text);
  const element = ELEMENT.exec(text);
  return (
    element !== null &&
    variables.isInteger(element[1] ?? '') &&
    isIntegerText((element[2] ?? '').replace(/^\$/, ''), variables)
  );
}

function isIntegerParts(parts: NonNullable<Word['parts']>, variables: Variables): boolean {
  return parts.every((part) => {
    switch (part.type) {
      case 'Literal':
        return /^\d*$/.test(part.value);
      case 'DoubleQuoted':
        return isIntegerParts(part.parts, variables);
      case 'ArithmeticExpansion':
        return true;
      case 'SimpleExpansion':
        return variables.isInteger(part.text.slice(1));
      case 'ParameterExpansion':
        if (part.prefix === '#') return true;
        if (part.prefix !== undefined || !variables.isInteger(part.parameter)) return false;
        return (
          part.operation === undefined ||
          (part.operation.type === 'Default' && isIntegerWord(part.operation.operand, variables))
        );
      case 'CommandExpansion':
        return variables.isIntegerOutput(part.script);
      default:
        return false;
    }
  });
}

function evaluates(text: string): string {
  return `arithmetic evaluates what "${text}" holds`;
}
