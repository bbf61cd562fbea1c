import { assignments, isAssignedElsewhere, readDeclared } from './plpgsql-variables.ts';
import {
  beginsWithVariable,
  fillFormat,
  hasMarkers,
  identifierPart,
  isPlain,
  isSafe,
  literalPart,
  type StatementTemplate,
  toPart,
} from './statement-template.ts';
import type { SqlToken } from './tokenize-sql.ts';

/** Functions whose result is one identifier or literal, whatever their arguments are. */
const quotingFunctions: Readonly<Record<string, string>> = {
  quote_ident: identifierPart,
  quote_literal: literalPart,
  quote_nullable: literalPart,
};
/** Functions whose result consists of their arguments. */
const joiningFunctions: ReadonlySet<string> = new Set(['coalesce', 'concat', 'concat_ws']);
/** Words that end the expression of EXECUTE, or a branch of CASE. */
const expressionEnds: ReadonlySet<string> = new Set(['into', 'using', 'loop', 'when', 'then', 'else', 'end']);
const maxDepth = 20;

/** The texts that EXECUTE can run: each may be continued by the others. */
export type DynamicTexts = readonly StatementTemplate[];

/** The templates that are assigned to a variable, and those of the variables and alternatives in them. */
interface VariableTexts {
  readonly own: DynamicTexts;
  readonly parts: DynamicTexts;
}

/** Reads the dynamic statements of a body in PL/pgSQL. */
export class DynamicStatementReader {
  readonly #tokens: readonly SqlToken[];
  /** The declared variables of the outermost block. A parameter can have any value. */
  #declared: ReadonlySet<string> | null = null;
  /** The variables whose assignments are being read, each because of the one before. */
  readonly #reading: string[] = [];
  /** The templates of each variable; null: it can have any value. */
  readonly #variables = new Map<string, VariableTexts | null>();
  #position = 0;
  #depth = 0;
  /** The templates of the variables in the expression that is read. */
  #parts: string[] = [];

  constructor(tokens: readonly SqlToken[]) {
    this.#tokens = tokens;
  }

  /** Returns the texts of the statement that begins at the token; null when they are not known. */
  read(start: number): DynamicTexts | null {
    const template = this.#readAt(start);
    if (template === null || !isSafe(template)) return null;
    const parts = [...this.#parts];
    const begin = beginsWithVariable(template) ? this.#beginsPlain(start) : isPlain(template);
    return begin ? [...new Set([template, ...parts])] : null;
  }

  /** Returns whether every value that the variable at the start can begin with is a harmless statement. */
  #beginsPlain(start: number): boolean {
    let at = start;
    while (this.#tokens[at]?.text === '(') at++;
    const texts = this.#variables.get(this.#tokens[at]?.text ?? '')?.own ?? [];
    return texts.length > 0 && texts.every((text) => beginsWithVariable(text) || isPlain(text));
  }

  #readAt(start: number): string | null {
    this.#parts = [];
    this.#depth = 0;
    return this.#expressionAt(start);
  }

  #expressionAt(start: number): string | null {
    const before = this.#position;
    this.#position = start;
    const template = this.#expression();
    this.#position = before;
    return template;
  }

  #is(text: string, offset = 0): boolean {
    const token = this.#tokens[this.#position + offset];
    return token !== undefined && token.kind !== 'literal' && token.text === text;
  }

  /** Reads `part || part …` up to the end of the expression. */
  #expression(): string | null {
    if (++this.#depth > maxDepth) return null;
    let template = '';
    for (;;) {
      const part = this.#part();
      if (part === null) return null;
      template += part;
      if (!(this.#is('|') && this.#is('|', 1))) break;
      this.#position += 2;
    }
    this.#depth--;
    const end = this.#tokens[this.#position];
    const ends =
      end === undefined ||
      (end.kind === 'symbol' && [';', ')', ','].includes(end.text)) ||
      (end.kind === 'word' && expressionEnds.has(end.text));
    return ends ? template : null;
  }

  #part(): string | null {
    const part = this.#uncastPart();
    if (part === null || !(this.#is(':') && this.#is(':', 1))) return part;
    // A cast to a string type leaves the text as it is.
    const type = this.#tokens[this.#position + 2];
    if (type?.kind !== 'word' || !['text', 'varchar', 'regclass'].includes(type.text)) return null;
    this.#position += 3;
    return part;
  }

  #uncastPart(): string | null {
    const token = this.#tokens[this.#position];
    if (token === undefined) return null;
    if (token.kind === 'literal') return this.#literal();
    if (token.kind === 'symbol') return token.text === '(' ? this.#parenthesized() : null;
    if (token.kind !== 'word') return null;
    if (token.text === 'pg_catalog' && this.#is('.', 1)) this.#position += 2;
    if (this.#is('case')) return this.#case();
    return this.#is('(', 1) ? this.#call() : this.#variable();
  }

  /** Literals in a row, with a line break between them, are one. */
  #literal(): string | null {
    let text = '';
    for (; this.#tokens[this.#position]?.kind === 'literal'; this.#position++)
      text += this.#tokens[this.#position]!.text;
    return hasMarkers(text) ? null : text;
  }

  #parenthesized(): string | null {
    this.#position++;
    const template = this.#expression();
    if (template === null || !this.#is(')')) return null;
    this.#position++;
    return template;
  }

  #call(): string | null {
    const name = this.#tokens[this.#position]!.text;
    const quoted = Object.hasOwn(quotingFunctions, name) ? quotingFunctions[name]! : null;
    this.#position += 2;
    if (quoted !== null) return this.#skipArguments() ? quoted : null;
    if (name === 'format') return this.#format();
    if (!joiningFunctions.has(name)) return null;
    const all = this.#arguments();
    const known = all?.filter((argument) => argument !== null) ?? [];
    if (all === null || known.length < all.length) return null;
    if (name === 'concat') return known.join('');
    return name === 'concat_ws' ? known.slice(1).join(known[0]) : this.#oneOf(known);
  }

  /** Reads the arguments of a call, each as a template or null. Returns null without a closing parenthesis. */
  #arguments(): readonly (string | null)[] | null {
    const all: (string | null)[] = [];
    for (;;) {
      const start = this.#position;
      const depth = this.#depth;
      const argument = this.#expression();
      const complete = argument !== null && (this.#is(',') || this.#is(')'));
      if (!complete) {
        this.#position = start;
        this.#depth = depth;
        if (!this.#skipArgument()) return null;
      }
      all.push(complete ? argument : null);
      const isLast = this.#is(')');
      this.#position++;
      if (isLast) return all;
    }
  }

  /** Moves to the comma or parenthesis behind the argument. */
  #skipArgument(): boolean {
    let depth = 0;
    for (; this.#position < this.#tokens.length; this.#position++) {
      if (this.#is('(') || this.#is('[')) depth++;
      else if (depth === 0 && (this.#is(',') || this.#is(')'))) return true;
      else if (this.#is(')') || this.#is(']')) depth--;
      else if (this.#is(';')) return false;
    }
    return false;
  }

  #skipArguments(): boolean {
    for (;;) {
      if (!this.#skipArgument()) return false;
      const isLast = this.#is(')');
      this.#position++;
      if (isLast) return true;
    }
  }

  #format(): string | null {
    const all = this.#arguments();
    const [pattern] = all ?? [null];
    if (all === null || typeof pattern !== 'string' || hasMarkers(pattern)) return null;
    return fillFormat(pattern, all.slice(1));
  }

  /** Reads `case … end`, whose branches are alternatives. */
  #case(): string | null {
    const branches: string[] = [];
    for (let depth = 0; this.#position < this.#tokens.length;) {
      if (this.#is(';')) return null;
      const isBranch = depth === 1 && (this.#is('then') || this.#is('else'));
      if (this.#is('case')) depth++;
      if (this.#is('end') && --depth === 0) break;
      this.#position++;
      if (!isBranch) continue;
      const branch = this.#expression();
      if (branch === null) return null;
      branches.push(branch);
    }
    this.#position++;
    return this.#oneOf(branches);
  }

  /** Returns the part of alternatives. */
  #oneOf(texts: readonly string[]): string | null {
    if (!texts.every((text) => isSafe(text))) return null;
    this.#parts.push(...texts);
    return toPart(texts);
  }

  #variable(): string | null {
    const name = this.#tokens[this.#position]!.text;
    this.#position++;
    if (this.#is('.') || this.#is('[')) return null;
    const texts = this.#textsOf(name);
    if (texts === null) return null;
    this.#parts.push(...texts.own, ...texts.parts);
    return toPart(texts.own);
  }

  /** Returns the templates of a variable; null when it can have other values. */
  #textsOf(name: string): VariableTexts | null {
    // The variable may continue itself, as in `q := q || …`, but not another one that continues it.
    if (this.#reading.includes(name)) return this.#reading.at(-1) === name ? noTexts : null;
    const known = this.#variables.get(name);
    if (known !== undefined) return known;
    this.#declared ??= readDeclared(this.#tokens);
    const isKnown = this.#declared.has(name) && !isAssignedElsewhere(this.#tokens, name);
    const texts = isKnown ? this.#readAssignments(name) : null;
    this.#variables.set(name, texts);
    return texts;
  }

  #readAssignments(name: string): VariableTexts | null {
    const parts = this.#parts;
    const depth = this.#depth;
    this.#parts = [];
    this.#reading.push(name);
    const own = Array.from(assignments(this.#tokens, name), (start) => this.#expressionAt(start));
    const texts = { own: own.filter((template) => template !== null), parts: [...new Set(this.#parts)] };
    this.#reading.pop();
    this.#parts = parts;
    this.#depth = depth;
    return own.every((template) => template !== null && isSafe(template)) ? texts : null;
  }
}

const noTexts: VariableTexts = { own: [], parts: [] };
