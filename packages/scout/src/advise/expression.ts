/** Conditions of policies and plans, as PostgreSQL writes them: all names are qualified, and every operation is in parentheses. */

interface Token {
  readonly text: string;
  /** Its place in the text. */
  readonly start: number;
  readonly end: number;
  readonly kind: 'space' | 'literal' | 'word' | 'symbol';
}

const tokenPattern =
  /(?<space>\s+)|(?<literal>E?'(?:[^'\\]|''|\\[^])*'|\d+(?:\.\d+)?(?:e[+-]?\d+)?)|(?<word>"(?:[^"]|"")*"|[\p{L}_][\p{L}\p{N}_$]*)|(?<symbol>::|[^])/giu;

function tokenize(expression: string): readonly Token[] {
  return [...expression.matchAll(tokenPattern)].map(({ 0: text, index, groups }) => {
    const kind = (['space', 'literal', 'word'] as const).find((name) => groups![name] !== undefined) ?? 'symbol';
    return { text, start: index, end: index + text.length, kind };
  });
}

/** A half-open range of tokens. */
type Range = readonly [start: number, end: number];

/** Words of expressions that are not columns. */
const keywords: ReadonlySet<string> = new Set(
  'SELECT AS NULL TRUE FALSE AND OR NOT IS IN ANY ALL ARRAY CASE WHEN THEN ELSE END DISTINCT FROM COALESCE'.split(' '),
);

/** Tokens without spaces, with the functions that have one value for a statement. */
class Expression {
  readonly tokens: readonly Token[];
  readonly #source: string;
  readonly #functions: ReadonlySet<string>;

  /** @param functions as in the text, such as `auth.uid` */
  constructor(text: string, functions: ReadonlySet<string>) {
    this.#source = text;
    this.tokens = tokenize(text).filter(({ kind }) => kind !== 'space');
    this.#functions = functions;
  }

  text([start, end]: Range): string {
    return start === end ? '' : this.#source.slice(this.tokens[start]!.start, this.tokens[end - 1]!.end);
  }

  /** Returns the end of the parentheses that begin at the index. */
  end(start: number): number {
    let depth = 0;
    for (let index = start; index < this.tokens.length; index++) {
      if (this.#is(index, '(')) depth++;
      if (this.#is(index, ')') && --depth === 0) return index + 1;
    }
    return this.tokens.length;
  }

  #is(index: number, text: string): boolean {
    return this.tokens[index]?.text === text;
  }

  isWord(index: number, word: string): boolean {
    return this.tokens[index]?.kind === 'word' && this.tokens[index].text.toUpperCase() === word;
  }

  /** Returns the range of the call of a function that begins at the index; null for other tokens. */
  callAt(index: number): Range | null {
    if (this.tokens[index]?.kind !== 'word' || this.#is(index - 1, '.')) return null;
    const isQualified = this.#is(index + 1, '.');
    const parenthesis = isQualified ? index + 3 : index + 1;
    if (!this.#is(parenthesis, '(')) return null;
    const name = this.tokens.slice(index, parenthesis).map(({ text }) => text);
    return this.#functions.has(name.join('')) ? [index, this.end(parenthesis)] : null;
  }

  /** Whether the range has no columns: literals, types and calls of functions of the statement. */
  isConstant([start, end]: Range): boolean {
    for (let index = start; index < end; index++) {
      const call = this.callAt(index);
      if (call !== null) {
        if (!this.#hasConstantArguments(call)) return false;
        index = call[1] - 1;
      } else if (this.#is(index, '::')) index = this.#typeEnd(index + 1) - 1;
      else if (this.isWord(index, 'AS')) index++;
      else if (this.tokens[index]!.kind === 'word' && !keywords.has(this.tokens[index]!.text.toUpperCase()))
        return false;
    }
    return true;
  }

  #hasConstantArguments([start, end]: Range): boolean {
    const open = this.#is(start + 1, '.') ? start + 3 : start + 1;
    return this.isConstant([open + 1, end - 1]);
  }

  /** Returns the end of a type such as `character varying(3)[]` or `"s"."t"`. */
  #typeEnd(start: number): number {
    let index = start;
    while (this.#isInType(index)) index = this.#is(index, '(') ? this.end(index) : index + 1;
    return index;
  }

  #isInType(index: number): boolean {
    const token = this.tokens[index];
    if (token === undefined) return false;
    if (token.kind === 'word') return !keywords.has(token.text.toUpperCase());
    return ['.', '[', ']'].includes(token.text) || (token.text === '(' && /^\d+$/.test(this.tokens[index + 1]!.text));
  }

  /** Removes parentheses around a whole range. */
  inner([start, end]: Range): Range {
    return this.#is(start, '(') && this.end(start) === end && !this.isWord(start + 1, 'SELECT')
      ? this.inner([start + 1, end - 1])
      : [start, end];
  }

  /** Divides a range at a word, such as `OR`, that is in no parentheses. */
  split([start, end]: Range, word: string): readonly Range[] {
    const parts: Range[] = [];
    let from = start;
    for (let index = start; index < end; index++) {
      if (this.#is(index, '(')) index = this.end(index) - 1;
      else if (this.isWord(index, word)) {
        parts.push([from, index]);
        from = index + 1;
      }
    }
    return [...parts, [from, end]];
  }

  get whole(): Range {
    return [0, this.tokens.length];
  }
}

/** Whether the condition is true for each row: `true`, `1 = 1`, or such a part of an OR. */
export function isAlwaysTrue(text: string): boolean {
  const expression = new Expression(text, new Set());
  const isTrue = (range: Range): boolean => {
    const inner = expression.inner(range);
    const alternatives = expression.split(inner, 'OR');
    if (alternatives.length > 1) return alternatives.some(isTrue);
    const conditions = expression.split(inner, 'AND');
    if (conditions.length > 1) return conditions.every(isTrue);
    const condition = expression.text(inner).replaceAll(/\s/g, '');
    if (condition.toLowerCase() === 'true') return true;
    const [left, right, ...others] = condition.split('=');
    return others.length === 0 && left === right && expression.isConstant(inner);
  };
  return isTrue(expression.whole);
}

/** Returns the alternatives of an OR that are true for a caller without an identity, and the condition without them; null: there are none. */
export function anonymousAlternatives(
  text: string,
  functions: ReadonlySet<string>,
): { readonly found: readonly string[]; readonly rest: string } | null {
  const expression = new Expression(text, functions);
  const alternatives = expression.split(expression.inner(expression.whole), 'OR');
  const isAnonymous = (range: Range): boolean => {
    const [start, end] = expression.inner(range);
    const isNullTest = expression.isWord(end - 2, 'IS') && expression.isWord(end - 1, 'NULL');
    if (!isNullTest || !expression.isConstant([start, end - 2])) return false;
    return canBeNull(expression.text([start, end - 2]), functions);
  };
  const found = alternatives.filter(isAnonymous);
  if (alternatives.length === 1 || found.length === 0) return null;
  const rest = alternatives.filter((range) => !found.includes(range)).map((range) => expression.text(range));
  return { found: found.map((range) => expression.text(range)), rest: rest.length === 0 ? 'false' : rest.join(' OR ') };
}

/** `current_setting` returns NULL for a missing setting only with a second argument. */
function canBeNull(tested: string, functions: ReadonlySet<string>): boolean {
  if (/\bcurrent_setting\(/.test(tested)) return /, true\)/.test(tested);
  return [...functions].some((name) => tested.includes(`${name}(`));
}

/** Returns the calls that are evaluated for each row, and the condition with each of them in a sub-select. */
export function callsPerRow(
  text: string,
  functions: ReadonlySet<string>,
): { readonly calls: readonly string[]; readonly mended: string } {
  const expression = new Expression(text, functions);
  const calls: string[] = [];
  let mended = '';
  let from = 0;
  for (let index = 0; index < expression.tokens.length; index++) {
    const { text: token, start } = expression.tokens[index]!;
    const call = expression.callAt(index);
    const isSubselect = token === '(' && expression.isWord(index + 1, 'SELECT');
    if (isSubselect && expression.isConstant([index, expression.end(index)])) index = expression.end(index) - 1;
    else if (call !== null && expression.isConstant(call)) {
      const callText = expression.text(call);
      calls.push(callText);
      mended += `${text.slice(from, start)}( SELECT ${callText})`;
      index = call[1] - 1;
      from = expression.tokens[index]!.end;
    }
  }
  return { calls: [...new Set(calls)], mended: mended + text.slice(from) };
}

/** Returns the columns of the conditions of an AND that an index could find: those equal to a value, and those in an order. */
export function filterColumns(text: string): {
  readonly equal: readonly string[];
  readonly ordered: readonly string[];
} {
  const expression = new Expression(text, new Set());
  const conditions = expression.split(expression.inner(expression.whole), 'AND');
  const found = conditions.map((range) => comparedColumn(expression.text(expression.inner(range))));
  const columnsOf = (isEqual: boolean): readonly string[] =>
    found.flatMap((compared) => (compared !== null && compared.isEqual === isEqual ? [compared.column] : []));
  return { equal: columnsOf(true), ordered: columnsOf(false) };
}

const columnName = String.raw`(?:(?:"(?:[^"]|"")*"|[\p{L}_][\p{L}\p{N}_$]*)\.)?("(?:[^"]|"")*"|[\p{L}_][\p{L}\p{N}_$]*)`;
/** A column, with a cast that keeps its order, as from varchar to text. */
const comparedPattern = new RegExp(`^(?:${columnName}|\\(${columnName}\\)::text) (=|<=?|>=?) (.*)$`, 'su');

function comparedColumn(condition: string): { readonly column: string; readonly isEqual: boolean } | null {
  const match = comparedPattern.exec(condition);
  if (match === null) return null;
  const [, plain, cast, operator, value] = match;
  return /^\$\d+|^'|^\d|^\(\$\d+\)|^\(?(?:InitPlan|hashed)|^ANY \(\$\d+\)/.test(value!)
    ? { column: (plain ?? cast)!, isEqual: operator === '=' }
    : null;
}
