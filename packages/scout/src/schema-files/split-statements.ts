/** Divides a script into statements, as psql does. */

export interface ScriptStatement {
  readonly sql: string;
  /** The number of its first line. */
  readonly line: number;
}

/** What a semicolon inside of does not end a statement, words, and single characters. */
const token =
  /--[^\n]*|\/\*|[eE]'(?:\\[^]|''|[^'\\])*'|'(?:''|[^'])*'|"(?:""|[^"])*"|\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$|[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*|\s+|[^]/y;

const createRoutine = /^create\s+(?:or\s+replace\s+)?(?:function|procedure)\b/i;

/** Lines of pg_dump that only psql reads: they let it refuse its own commands. */
const restriction = /^\\(?:un)?restrict[ \t]+\w+[ \t]*\r?$/gm;

export function splitStatements(script: string): readonly ScriptStatement[] {
  const text = script.replace(/^\uFEFF/, '').replace(restriction, '');
  const statements: ScriptStatement[] = [];
  const nesting = new Nesting();
  let start = -1;
  let line = 1;
  let counted = 0;
  for (let position = 0; position < text.length;) {
    const word = tokenAt(text, position);
    const isIgnored = /^\s|^--|^\/\*/.test(word);
    if (start === -1 && !isIgnored && word !== ';') start = position;
    if (word === ';' && start !== -1 && !nesting.isInside) {
      line += lineBreaks(text, counted, start);
      counted = start;
      statements.push({ sql: text.slice(start, position), line });
      start = -1;
      nesting.reset();
    } else if (!isIgnored && start !== -1) nesting.add(word, () => createRoutine.test(text.slice(start, position)));
    position += word.length;
  }
  if (start !== -1) statements.push({ sql: text.slice(start), line: line + lineBreaks(text, counted, start) });
  return statements;
}

function lineBreaks(text: string, from: number, to: number): number {
  let count = 0;
  for (let index = text.indexOf('\n', from); index !== -1 && index < to; index = text.indexOf('\n', index + 1)) count++;
  return count;
}

function tokenAt(text: string, position: number): string {
  token.lastIndex = position;
  const word = token.exec(text)![0];
  if (word === '/*') return text.slice(position, blockCommentEnd(text, position));
  if (word.length < 2 || !word.startsWith('$')) return word;
  const end = text.indexOf(word, position + word.length);
  return text.slice(position, end === -1 ? text.length : end + word.length);
}

/** Comments of PostgreSQL can contain others. */
function blockCommentEnd(text: string, start: number): number {
  const delimiter = /\/\*|\*\//g;
  delimiter.lastIndex = start;
  let depth = 0;
  for (let match = delimiter.exec(text); match !== null; match = delimiter.exec(text)) {
    depth += match[0] === '/*' ? 1 : -1;
    if (depth === 0) return delimiter.lastIndex;
  }
  return text.length;
}

/** Parentheses, as around the actions of a rule, and the body of a routine in standard SQL: `BEGIN ATOMIC … END`. */
class Nesting {
  #parentheses = 0;
  #blocks = 0;
  #previous = '';

  get isInside(): boolean {
    return this.#parentheses > 0 || this.#blocks > 0;
  }

  reset(): void {
    this.#parentheses = 0;
    this.#blocks = 0;
    this.#previous = '';
  }

  add(word: string, isRoutine: () => boolean): void {
    const name = word.toLowerCase();
    if (name === '(') this.#parentheses++;
    else if (name === ')') this.#parentheses = Math.max(0, this.#parentheses - 1);
    else if (name === 'atomic' && this.#previous === 'begin' && isRoutine()) this.#blocks++;
    else if (this.#blocks > 0 && name === 'case') this.#blocks++;
    else if (this.#blocks > 0 && name === 'end') this.#blocks--;
    this.#previous = name;
  }
}
