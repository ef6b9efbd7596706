/**
 * Tests the regular expressions of MCP servers' schemas within a bounded time.
 *
 * JavaScript's engine backtracks: `(a+)+$` freezes the process on 31 characters. RE2 takes time in proportion to the
 * text and the size of the pattern. Patterns that RE2 cannot express (lookaround, backreferences) and those beyond the
 * bounds below are not tested: the server that wrote the pattern validates its own input anyway.
 */
import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';

/** Instructions of all patterns of one schema; one takes about 1.5 µs to compile and 80 bytes of memory. */
const MAX_SCHEMA_INSTRUCTIONS = 10_000;
/** Longest pattern that is compiled, in characters: the compiler spends more time on patterns that it then rejects. */
const MAX_PATTERN_CHARS = 1_000;
/** Instructions charged for a class such as `\p{L}`, which expands to hundreds of ranges. */
const CLASS_COST = 100;
/** Characters times instructions that the patterns of one schema may cost on one input: 0.2 s at worst. */
const MAX_INPUT_STEPS = 500_000;

/** Patterns of this process that are not tested, to number them. */
let untestedCount = 0;

/** Loaded with the first pattern. */
let engine: typeof RE2JS | undefined;

/** Members of a regular expression that ajv uses. */
export interface PatternTest {
  test(text: string): boolean;
  /** Unique among patterns that behave differently, since ajv caches by it. */
  toString(): string;
}

/** Compiles the patterns of schemas, and bounds their cost. */
export interface SchemaPatterns {
  /** Start the budget of another schema. */
  beginSchema(): void;
  /** Start the budget of another input. */
  beginInput(): void;
  /** Compile a pattern. @throws {SyntaxError} If it is not a regular expression. */
  compile(pattern: string, flags: string): PatternTest;
}

/** Create the compiler; it handles one schema and one input at a time. */
export function createSchemaPatterns(): SchemaPatterns {
  let instructionsLeft = MAX_SCHEMA_INSTRUCTIONS;
  let stepsLeft = MAX_INPUT_STEPS;

  function compileBounded(pattern: string, flags: string): RE2JS | undefined {
    // Charged before the pattern is parsed: V8 is slow on character classes, and RE2 on patterns that it then rejects.
    instructionsLeft -= pattern.length + CLASS_COST * (pattern.match(/\\[pPSW]/g)?.length ?? 0);
    if (instructionsLeft <= 0 || pattern.length > MAX_PATTERN_CHARS) return undefined;
    new RegExp(pattern, flags);
    // RE2 reads a named backreference as literal text.
    if (pattern.includes('\\k<')) return undefined;
    try {
      engine ??= loadEngine();
      const expression = engine.compile(engine.translateRegExp(re2Syntax(pattern)));
      instructionsLeft -= expression.programSize();
      return instructionsLeft < 0 ? undefined : expression;
    } catch {
      // Lookaround, a backreference, or too large: the server tests it.
      return undefined;
    }
  }

  function mayTest(text: string, instructions: number): boolean {
    const steps = (text.length + 1) * instructions;
    if (steps > stepsLeft) return false;
    stepsLeft -= steps;
    return true;
  }

  return {
    beginSchema: () => void (instructionsLeft = MAX_SCHEMA_INSTRUCTIONS),
    beginInput: () => void (stepsLeft = MAX_INPUT_STEPS),
    compile(pattern, flags) {
      const expression = compileBounded(pattern, flags);
      // An untested pattern gets a unique name, since the same pattern may be tested within another schema.
      const name = expression ? `/${pattern}/${flags}` : `untested ${++untestedCount}`;
      const instructions = expression?.programSize() ?? 0;
      return {
        test: (text) => expression === undefined || !mayTest(text, instructions) || expression.test(text),
        toString: () => name,
      };
    },
  };
}

function loadEngine(): typeof RE2JS {
  return (createRequire(import.meta.url)('re2js') as typeof import('re2js')).RE2JS;
}

/** JavaScript's `\s` and what it leaves, as ranges of a class; RE2's own is ASCII. */
const BLANKS = '\\t-\\r\\x20\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}';
const NON_BLANKS =
  '\\x00-\\x08\\x0e-\\x1f\\x21-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}' +
  '\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}';
/** JavaScript's `.` excludes four line terminators, RE2's only one. */
const NON_LINE_END = '[^\\n\\r\\x{2028}\\x{2029}]';

/** Translate a valid JavaScript pattern to RE2's syntax. */
function re2Syntax(pattern: string): string {
  let isInClass = false;
  return pattern.replace(/\\.|[[\].]/gsu, (token) => {
    if (token === '\\s') return isInClass ? BLANKS : `[${BLANKS}]`;
    if (token === '\\S') return isInClass ? NON_BLANKS : `[${NON_BLANKS}]`;
    if (token === '.') return isInClass ? token : NON_LINE_END;
    // JavaScript reads `[[:alpha:]` as a class of seven characters, RE2 as a named class.
    if (token === '[' && isInClass) return '\\[';
    if (token === '[' || token === ']') isInClass = token === '[';
    return token;
  });
}
