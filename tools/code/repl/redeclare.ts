/**
 * Makes the names that a piece of code declares outside of blocks declarable again: `const`, `let` and `class` become
 * `var` there, which a later piece may repeat. All other characters stay, and lines keep their numbers.
 */

/** Words after which a slash begins a regular expression. */
const BEFORE_EXPRESSION = new Set([
  ...['return', 'typeof', 'instanceof', 'in', 'of', 'new', 'delete', 'void', 'throw', 'case', 'do', 'else', 'yield'],
  ...['await', 'extends', 'default'],
]);

/** Words whose brackets are followed by a statement. */
const BEFORE_HEAD = new Set(['if', 'while', 'for', 'with']);

/** Words after which a brace begins a block. */
const BEFORE_BLOCK = new Set(['else', 'do', 'try', 'finally']);

const BLANK = /[^\S\n]+/y;
const COMMENT = /\/\/[^\n]*|\/\*[^]*?\*\//y;
const STRING = /'(?:[^'\\\n]|\\[^])*'|"(?:[^"\\\n]|\\[^])*"/y;
const TEMPLATE_PIECE = /(?:[^`\\$]|\\[^]|\$(?!\{))*(`|\$\{)/y;
const EXPRESSION = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/\w*/y;
const WORD = /[\p{ID_Start}$_#\d][\p{ID_Continue}$\u200c\u200d]*/uy;
const STEP = /\+\+|--/y;
const DECLARED_NEXT = /\s+[\p{ID_Start}$_{[]|[{[]/uy;
const CLASS_NAME = /\s+(?!extends\b)([\p{ID_Start}$_][\p{ID_Continue}$]*)/uy;

/** An open bracket. */
interface Frame {
  readonly opening: '(' | '[' | '{' | '`';
  /** A slash after its end begins a regular expression. */
  readonly isStatementNext: boolean;
  /** It is the body of a class that became a variable, which a semicolon must end. */
  readonly isClassBody?: boolean;
}

/** Rewrite a piece of code. Code that cannot be followed stays as it is. */
export function redeclarable(code: string): string {
  const scanner = new Scanner(code);
  return scanner.rewrite();
}

class Scanner {
  readonly #code: string;
  #at = 0;
  #rewritten = '';
  /** Code before it stands in `#rewritten`. */
  #copied = 0;
  readonly #frames: Frame[] = [];
  /** A statement may begin here; also after a line break behind a complete expression. */
  #isStatement = true;
  /** A slash would begin a regular expression. */
  #isOperand = true;
  #previousWord = '';
  #isClassNext = false;

  constructor(code: string) {
    this.#code = code;
  }

  rewrite(): string {
    while (this.#at < this.#code.length) if (!this.#step()) return this.#code;
    return this.#frames.length > 0 ? this.#code : this.#rewritten + this.#code.slice(this.#copied);
  }

  /** Pass one token. @returns False for text that is none. */
  #step(): boolean {
    const next = this.#code.charAt(this.#at);
    if (next === '\n') {
      if (!this.#isOperand) this.#isStatement = true;
      this.#at++;
      return true;
    }
    if (this.#skip(BLANK) !== undefined || this.#skip(COMMENT) !== undefined) return true;
    // A comment without an end: nothing more is read for it at each of its slashes.
    if (this.#code.startsWith('/*', this.#at)) return false;
    if (next === "'" || next === '"') return this.#skip(STRING) !== undefined && this.#endOperand();
    if (next === '`') {
      this.#at++;
      return this.#template();
    }
    if (next === '/' && this.#isOperand) return this.#skip(EXPRESSION) !== undefined && this.#endOperand();
    const start = this.#at;
    const word = this.#skip(WORD);
    if (word !== undefined) return this.#word(word, start);
    // Behind an operand it belongs to that, before one to the next.
    if (this.#skip(STEP) !== undefined) return true;
    this.#at++;
    if ('([{'.includes(next)) return this.#open(next as '(' | '[' | '{');
    if (')]}'.includes(next)) return this.#close(next);
    this.#isOperand = next !== '.';
    this.#isStatement = next === ';';
    this.#previousWord = next;
    return true;
  }

  #word(word: string, start: number): boolean {
    const isProperty = this.#previousWord === '.';
    const isOutside = this.#frames.length === 0 && !isProperty;
    if (isOutside && (word === 'const' || (word === 'let' && this.#looksAt(DECLARED_NEXT)))) {
      this.#replace(start, 'var'.padEnd(word.length));
    } else if (isOutside && word === 'class' && this.#isStatement) {
      CLASS_NAME.lastIndex = this.#at;
      const [, name] = CLASS_NAME.exec(this.#code) ?? [];
      if (name !== undefined) {
        this.#replace(start, `var ${name} = class`);
        this.#isClassNext = true;
      }
    }
    this.#previousWord = isProperty ? '' : word;
    this.#isOperand = !isProperty && BEFORE_EXPRESSION.has(word);
    this.#isStatement = false;
    return true;
  }

  #open(opening: '(' | '[' | '{'): boolean {
    const isBlock = this.#isStatement || !this.#isOperand || BEFORE_BLOCK.has(this.#previousWord);
    const isClassBody = opening === '{' && this.#isClassNext && this.#frames.length === 0;
    if (isClassBody) this.#isClassNext = false;
    const isStatementNext = opening === '(' ? BEFORE_HEAD.has(this.#previousWord) : opening === '{' && isBlock;
    this.#frames.push({ opening, isStatementNext, isClassBody });
    this.#isOperand = true;
    this.#isStatement = opening === '{' && isBlock;
    this.#previousWord = opening;
    return true;
  }

  #close(closing: string): boolean {
    const frame = this.#frames.pop();
    if (!frame) return false;
    if (frame.opening === '`') return closing === '}' && this.#template();
    if (CLOSING[frame.opening] !== closing) return false;
    this.#isOperand = frame.isStatementNext;
    this.#isStatement = frame.isStatementNext;
    this.#previousWord = closing;
    if (frame.isClassBody === true) this.#replace(this.#at, ';');
    return true;
  }

  /** Pass the text of a template up to its end, or up to an expression in it. */
  #template(): boolean {
    const piece = this.#skip(TEMPLATE_PIECE);
    if (piece === undefined) return false;
    if (piece.endsWith('`')) return this.#endOperand();
    this.#frames.push({ opening: '`', isStatementNext: false });
    this.#isOperand = true;
    this.#isStatement = false;
    this.#previousWord = '${';
    return true;
  }

  #endOperand(): true {
    this.#isOperand = false;
    this.#isStatement = false;
    this.#previousWord = '';
    return true;
  }

  /** Put a text in the place of the code from `start` to here. */
  #replace(start: number, text: string): void {
    this.#rewritten += this.#code.slice(this.#copied, start) + text;
    this.#copied = this.#at;
  }

  #looksAt(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    return pattern.test(this.#code);
  }

  #skip(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#code)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }
}

const CLOSING = { '(': ')', '[': ']', '{': '}' } as const;
