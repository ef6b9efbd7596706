/** What `${f%.ts}`, `${f##*\/}`, `${f%/*}` and `${f#src/}` leave of values that are known as globs. */
import type { ParameterOperation } from 'unbash';

/** Values that an operation makes of others; undefined where they cannot be told. */
export function remaining(
  operation: ParameterOperation,
  values: readonly string[] | undefined,
): readonly string[] | undefined {
  if (operation.type !== 'Remove' || !values) return undefined;
  const { operator, operand } = operation;
  const found = values.map((value) => left(value, operator, operand.text));
  return found.every((value) => value !== undefined) ? found : undefined;
}

function left(value: string, operator: '#' | '##' | '%' | '%%', removed: string): string | undefined {
  const slash = value.lastIndexOf('/');
  if (operator === '##' && removed === '*/') return value.slice(slash + 1);
  // With `**`, what looks like a folder may be a file.
  if (operator === '%' && removed === '/*')
    return value.includes('**') ? undefined : value.slice(0, slash < 0 ? undefined : slash);
  if (!/^[\w./-]+$/.test(removed)) return undefined;
  if (operator.startsWith('%') && value.endsWith(removed)) return value.slice(0, -removed.length);
  if (operator.startsWith('#') && value.startsWith(removed)) return value.slice(removed.length);
  return /[*?[]/.test(value) ? undefined : value;
}
