/** ripgrep's words about a search that it could not make, and what to do about it with the fields of the input. */
import { GauntletError } from '../../../src/base/errors.ts';

/** ripgrep's own advice names options of its command line, which nobody here can give. */
const OWN_ADVICE = /\n+Consider enabling [\s\S]*$/;

/** By what ripgrep says, the first that fits. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/unrecognized file type/, 'Leave type out and use glob, such as "*.tsx"'],
  [/error parsing glob/, 'Correct glob'],
  [/look-around|backreferences/, 'Search with a simpler pattern, and judge the lines it finds'],
  [/the literal .* is not allowed/, 'Set multiline to true for a pattern that spans lines'],
  [/regex parse error/, 'Correct pattern: characters such as ( [ { . * + ? are literal only behind a backslash'],
];

/** Why a search could not be made at all. @param text What ripgrep wrote to stderr. */
export function searchError(text: string, exitCode: number | null): GauntletError {
  const words = text.replace(OWN_ADVICE, '').replace(/^rg: /, '').trim();
  const why = words === '' ? `ripgrep ended with code ${exitCode}. Try again` : words;
  const advice = ADVICE.find(([said]) => said.test(why))?.[1];
  return new GauntletError('tool_failed', `Cannot search: ${why}${advice === undefined ? '' : `\n${advice}`}`);
}
