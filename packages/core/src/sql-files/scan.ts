/** A comment line of a file. */
export interface FileComment {
  /** From 1. */
  readonly line: number;
  readonly text: string;
  /** The place of the text in the file. */
  readonly start: number;
  /** Whether it is within a statement. */
  readonly isInside: boolean;
  /** The index of the statement that it belongs to: the one before it on its line, or else the next one. */
  readonly statement: number;
}

/** A parameter in a statement. */
export interface Placeholder {
  /** `first_name` or `$1`. */
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** A token of a statement. Comments have none. */
export interface FileToken {
  /** A word in lower case, a quoted name with its quotes, `'` for a literal, or a symbol. */
  readonly text: string;
  readonly start: number;
  /** Parentheses and brackets around it. */
  readonly depth: number;
}

export interface FileStatement {
  readonly start: number;
  /** Behind its last character, without the semicolon. */
  readonly end: number;
  readonly placeholders: readonly Placeholder[];
  readonly tokens: readonly FileToken[];
}

export interface ScanFault {
  readonly at: number;
  readonly message: string;
}

export interface ScannedFile {
  readonly statements: readonly FileStatement[];
  readonly comments: readonly FileComment[];
  readonly faults: readonly ScanFault[];
}

/** More mistakes of one file are not reported. */
export const maxFaults = 20;

const nameStart = /[A-Za-z_\u0080-\uffff]/;
const word = /[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*/y;
const namedParameter = /:([A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)/y;
const numberedParameter = /\$\d+/y;
const number = /\d[\w.]*/y;
const escapedLiteral = /[eE]'(?:[^'\\]|\\.|'')*'/sy;
const literal = /'(?:[^']|'')*'/y;
const identifier = /"(?:[^"]|"")*"/y;
const dollarTag = /\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$/y;
const space = /\s+/y;
const capital = /[A-Z]/;
/** Words behind which a value begins. */
const wordsBeforeValue: ReadonlySet<string> = new Set(
  'and or not in is like ilike between case when then else'.split(' '),
);

/** Returns the name that a token is in the catalog: a quoted one without its quotes. */
export function tokenName({ text }: Pick<FileToken, 'text'>): string {
  return text.length > 2 && text.startsWith('"') ? text.slice(1, -1).replaceAll('""', '"') : text;
}

/** Splits the text of a file into statements and comments. PostgreSQL manual, "Lexical Structure". */
export function scanFile(text: string): ScannedFile {
  return new Scanner(text).scan();
}

interface OpenStatement {
  readonly start: number;
  end: number;
  readonly placeholders: Placeholder[];
  readonly tokens: FileToken[];
}

class Scanner {
  readonly #text: string;
  readonly #statements: FileStatement[] = [];
  readonly #comments: FileComment[] = [];
  readonly #faults: ScanFault[] = [];
  #current: OpenStatement | null = null;
  #position = 0;
  #line = 1;
  /** The end of the line. */
  #lineEnd = 0;
  /** The line of the semicolon that ended the last statement. */
  #endLine = 0;
  /** The characters of the open parentheses and brackets. */
  #open: string[] = [];
  /** The depth of `begin atomic … end`, where semicolons end no statement. */
  #atomic = 0;

  constructor(text: string) {
    this.#text = text;
  }

  scan(): ScannedFile {
    this.#lineEnd = this.#find('\n', 0);
    while (this.#position < this.#text.length) {
      this.#readNext();
      for (; this.#lineEnd < this.#position; this.#line++) this.#lineEnd = this.#find('\n', this.#lineEnd + 1);
    }
    this.#endStatement();
    return { statements: this.#statements, comments: this.#comments, faults: this.#faults };
  }

  #readNext(): void {
    const character = this.#text[this.#position]!;
    // Most characters are neither, which a comparison finds without a pattern.
    if ((character <= ' ' || character > '~') && this.#match(space) !== null) return;
    if (character === '-' && this.#text.startsWith('--', this.#position)) return this.#readLineComment();
    if (character === '/' && this.#text.startsWith('/*', this.#position)) return this.#readBlockComment();
    if (character === ';' && this.#open.length === 0 && this.#atomic === 0) {
      this.#endLine = this.#line;
      this.#position++;
      return this.#endStatement();
    }
    this.#readToken(character);
    if (this.#current !== null) this.#current.end = this.#position;
  }

  #readToken(character: string): void {
    this.#current ??= { start: this.#position, end: this.#position, placeholders: [], tokens: [] };
    if (character === '\\') {
      this.#fault(`"\\" begins a command of psql, which the server does not know; remove the line`);
      const end = this.#text.indexOf('\n', this.#position);
      this.#position = end === -1 ? this.#text.length : end;
    } else if (character === "'") this.#readQuoted(literal, "a string literal that begins here has no closing '");
    else if (character === '"') this.#readQuotedName();
    else if (character === '$') this.#readDollar();
    else if (character === ':') this.#readColon();
    else if (nameStart.test(character)) this.#readWord();
    else if (/\d/.test(character)) this.#readNumber();
    else this.#readSymbol(character);
  }

  #readNumber(): void {
    this.#addToken('0');
    this.#match(number);
  }

  #readQuoted(pattern: RegExp, message: string): void {
    this.#addToken("'");
    if (this.#match(pattern) !== null) return;
    this.#fault(message);
    this.#position = this.#text.length;
  }

  #readQuotedName(): void {
    const start = this.#position;
    const name = this.#match(identifier);
    this.#addToken(name ?? '"', start);
    if (name !== null) return;
    this.#fault('a quoted name that begins here has no closing "');
    this.#position = this.#text.length;
  }

  #readDollar(): void {
    const start = this.#position;
    const numbered = this.#match(numberedParameter);
    if (numbered !== null) return this.#addPlaceholder(numbered, start);
    const tag = this.#match(dollarTag);
    if (tag === null) return void this.#position++;
    this.#addToken("'", start);
    const end = this.#text.indexOf(tag, this.#position);
    if (end === -1) {
      this.#position = start;
      this.#fault(`the literal that ${tag} begins here has no closing ${tag}`);
    }
    this.#position = end === -1 ? this.#text.length : end + tag.length;
  }

  /** A cast `::`, an assignment `:=`, the bound of a slice `[1:n]`, or a parameter. */
  #readColon(): void {
    const start = this.#position;
    const next = this.#text[start + 1];
    if (next === ':' || next === '=') {
      this.#addToken(next === ':' ? '::' : ':=');
      this.#position += 2;
      return;
    }
    const name = this.#isSliceBound() ? null : this.#match(namedParameter);
    if (name !== null) return this.#addPlaceholder(name.slice(1), start);
    this.#addToken(':');
    this.#position++;
  }

  /** Whether a colon here follows the lower bound of a slice. */
  #isSliceBound(): boolean {
    if (this.#open.at(-1) !== '[') return false;
    const before = this.#current!.tokens.at(-1)?.text ?? '';
    return /^[\w$?)\]'"\u0080-\uffff]/.test(before) && !wordsBeforeValue.has(before);
  }

  #readWord(): void {
    const start = this.#position;
    const next = this.#text[start + 1];
    if (next === "'" && this.#match(escapedLiteral) !== null) return this.#addToken("'", start);
    // PostgreSQL folds only these letters where characters have several bytes.
    const written = this.#match(word)!;
    const text = capital.test(written) ? written.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()) : written;
    this.#addToken(text, start);
    const before = this.#current!.tokens.at(-2)?.text;
    if (text === 'atomic' && before === 'begin') this.#atomic++;
    else if (this.#atomic > 0 && text === 'case') this.#atomic++;
    else if (this.#atomic > 0 && text === 'end') this.#atomic--;
  }

  #readSymbol(character: string): void {
    if (character === ')' || character === ']') this.#open.pop();
    this.#addToken(character);
    if (character === '(' || character === '[') this.#open.push(character);
    this.#position++;
  }

  #readLineComment(): void {
    const found = this.#text.slice(this.#position).search(/[\r\n]/);
    const end = found === -1 ? this.#text.length : this.#position + found;
    this.#addComment(this.#text.slice(this.#position + 2, end), this.#position + 2, this.#line);
    this.#position = end;
  }

  /** Block comments may be nested. */
  #readBlockComment(): void {
    let end = this.#position + 2;
    // Each mark is searched once: a search per level would take a time that grows with the square of their number.
    let [close, open] = [-1, -1];
    for (let depth = 1; depth > 0;) {
      if (close < end) close = this.#find('*/', end);
      if (open < end) open = this.#find('/*', end);
      if (close === this.#text.length) {
        this.#fault('the comment that begins here has no closing */');
        end = this.#text.length;
        break;
      }
      const isNested = open < close;
      depth += isNested ? 1 : -1;
      end = (isNested ? open : close) + 2;
    }
    const lines = this.#text.slice(this.#position + 2, Math.max(end - 2, this.#position + 2)).split('\n');
    let start = this.#position + 2;
    for (const [index, line] of lines.entries()) {
      const mark = /^\s*\*(?=\s|$)/.exec(line)?.[0].length ?? 0;
      this.#addComment(line.slice(mark), start + mark, this.#line + index);
      start += line.length + 1;
    }
    this.#position = end;
  }

  #addComment(text: string, start: number, line: number): void {
    const isInside = this.#current !== null;
    const count = this.#statements.length;
    const isBehind = !isInside && count > 0 && line === this.#endLine;
    this.#comments.push({
      line,
      text: text.trim(),
      start: start + text.length - text.trimStart().length,
      isInside,
      statement: isBehind ? count - 1 : count,
    });
  }

  #addPlaceholder(name: string, start: number): void {
    this.#current!.placeholders.push({ name, start, end: this.#position });
    this.#addToken('?', start);
  }

  #addToken(text: string, start: number = this.#position): void {
    this.#current!.tokens.push({ text, start, depth: this.#open.length });
  }

  #endStatement(): void {
    if (this.#current !== null) this.#statements.push(this.#current);
    this.#current = null;
    this.#open = [];
    this.#atomic = 0;
  }

  #fault(message: string): void {
    if (this.#faults.length < maxFaults) this.#faults.push({ at: this.#position, message });
  }

  /** Returns the place of the text, or the end of the file. */
  #find(text: string, from: number): number {
    const found = this.#text.indexOf(text, from);
    return found === -1 ? this.#text.length : found;
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.#position;
    if (!pattern.test(this.#text)) return null;
    const start = this.#position;
    this.#position = pattern.lastIndex;
    return this.#text.slice(start, this.#position);
  }
}
