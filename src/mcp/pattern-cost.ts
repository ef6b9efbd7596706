/**
 * Tests the regular expressions of MCP servers' schemas within a bounded time.
 *
 * JavaScript's engine backtracks: `(a+)+$` freezes the process on 31 characters. RE2 takes time in proportion to the
 * text and the size of the pattern. What it cannot express (looking around, references back) and what is beyond the
 * bounds below is not tested: the server that wrote the pattern judges its own input anyway.
 */
import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';

/** Instructions of all patterns of one schema: an instruction costs some 1.5 µs to compile and 80 bytes to keep. */
const MAX_SCHEMA_INSTRUCTIONS = 10_000;
/** Longest pattern that is compiled, in characters: the compiler takes longer for what it then refuses. */
const MAX_PATTERN_CHARS = 1_000;
/** A class such as `\p{L}` is hundreds of ranges: counted as so many instructions. */
const CLASS_COST = 100;
/** Characters times instructions that the patterns of one schema may cost on one input: at worst 0.2 s. */
const MAX_INPUT_STEPS = 500_000;

/** Of this process. */
let untestedCount = 0;

/** Loaded with the first pattern. */
let engine: typeof RE2JS | undefined;

/** What ajv wants of a regular expression. */
export interface PatternTest {
  test(text: string): boolean;
  /** Unlike that of any other pattern: ajv takes two that say the same for one. */
  toString(): string;
}

/** Compiles the patterns of schemas, and bounds what they cost. */
export interface SchemaPatterns {
  /** The next patterns belong to another schema. */
  beginSchema(): void;
  /** The next tests belong to another input. */
  beginInput(): void;
  /** Compile a pattern. @throws {SyntaxError} When it is no regular expression. */
  compile(pattern: string, flags: string): PatternTest;
}

/** Make the compiler; schemas and inputs are taken one after the other. */
export function createSchemaPatterns(): SchemaPatterns {
  let instructionsLeft = MAX_SCHEMA_INSTRUCTIONS;
  let stepsLeft = MAX_INPUT_STEPS;

  function compileBounded(pattern: string, flags: string): RE2JS | undefined {
    // Charged before anything reads it: V8 takes its time for classes of characters, and RE2 for what it then refuses.
    instructionsLeft -= pattern.length + CLASS_COST * (pattern.match(/\\[pPSW]/g)?.length ?? 0);
    if (instructionsLeft <= 0 || pattern.length > MAX_PATTERN_CHARS) return undefined;
    new RegExp(pattern, flags);
    // RE2 takes a reference back by name for text.
    if (pattern.includes('\\k<')) return undefined;
    try {
      engine ??= loadEngine();
      const expression = engine.compile(engine.translateRegExp(re2Syntax(pattern)));
      instructionsLeft -= expression.programSize();
      return instructionsLeft < 0 ? undefined : expression;
    } catch {
      // It looks around or back, or is too large: its server tests it.
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
      // One that is not tested here may be tested elsewhere.
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
const NO_BLANKS =
  '\\x00-\\x08\\x0e-\\x1f\\x21-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}' +
  '\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}';
/** JavaScript's `.` stops at four line ends, RE2's at one. */
const NO_LINE_END = '[^\\n\\r\\x{2028}\\x{2029}]';

/** Write a pattern of JavaScript's syntax, known to be valid, in RE2's. */
function re2Syntax(pattern: string): string {
  let isInClass = false;
  return pattern.replace(/\\.|[[\].]/gsu, (token) => {
    if (token === '\\s') return isInClass ? BLANKS : `[${BLANKS}]`;
    if (token === '\\S') return isInClass ? NO_BLANKS : `[${NO_BLANKS}]`;
    if (token === '.') return isInClass ? token : NO_LINE_END;
    // `[[:alpha:]` is a class of seven characters here, and a named class there.
    if (token === '[' && isInClass) return '\\[';
    if (token === '[' || token === ']') isInClass = token === '[';
    return token;
  });
}
