/** Rows of a JSON text for a table: the values as texts, so that numbers keep all digits. */
import { formatJson, type JsonToken } from './json-text.ts';

export interface JsonCell {
  readonly kind: 'string' | 'number' | 'word' | 'json';
  /** A string without its quotes; other values as JSON. */
  readonly text: string;
}

export interface JsonRows {
  readonly columns: readonly string[];
  /** A cell for each column; undefined where the row has no such member. */
  readonly rows: readonly (readonly (JsonCell | undefined)[])[];
}

/** Columns of a table; wider rows are read better as JSON. */
const maxColumns = 200;

/** Returns the rows of an array of objects, or of objects on lines of their own; null for other JSON, and for an incomplete text. */
export function readJsonRows(text: string): JsonRows | null {
  const reader = new RowReader(formatJson(text));
  try {
    return reader.read();
  } catch (error) {
    if (error instanceof NotRows) return null;
    throw error;
  }
}

class NotRows extends Error {}

class RowReader {
  readonly #tokens: Generator<JsonToken>;
  readonly #columns = new Map<string, number>();
  #token: JsonToken | null = null;

  constructor(tokens: Generator<JsonToken>) {
    this.#tokens = tokens;
    this.#next();
  }

  read(): JsonRows | null {
    const rows: (JsonCell | undefined)[][] = [];
    const isArray = this.#accept('[');
    while (this.#token !== null && !this.#sees(']')) {
      if (isArray && rows.length > 0) this.#require(',');
      rows.push(this.#row());
    }
    if (isArray) this.#require(']');
    if (this.#token !== null || (!isArray && rows.length < 2) || this.#columns.size === 0) return null;
    return { columns: [...this.#columns.keys()], rows };
  }

  #row(): (JsonCell | undefined)[] {
    const cells: (JsonCell | undefined)[] = [];
    this.#require('{');
    while (!this.#sees('}')) {
      if (cells.length > 0) this.#require(',');
      const key = this.#token;
      if (key?.kind !== 'key') throw new NotRows();
      this.#next();
      this.#require(':');
      cells[this.#column(parseString(key.text))] = this.#value();
    }
    this.#require('}');
    return cells;
  }

  #column(name: string): number {
    const index = this.#columns.get(name) ?? this.#columns.size;
    if (index >= maxColumns) throw new NotRows();
    this.#columns.set(name, index);
    return index;
  }

  #value(): JsonCell {
    const { kind, text } = this.#token ?? { kind: 'space', text: '' };
    if (kind === 'string') {
      this.#next();
      return { kind, text: parseString(text) };
    }
    if (kind === 'number' || kind === 'word') {
      this.#next();
      return { kind, text };
    }
    return { kind: 'json', text: this.#nested() };
  }

  /** Returns an object or array in one line. */
  #nested(): string {
    const parts: string[] = [];
    let depth = 0;
    do {
      if (this.#token === null) throw new NotRows();
      const { text } = this.#token;
      if (text === '{' || text === '[') depth += 1;
      if (text === '}' || text === ']') depth -= 1;
      parts.push(text === ',' || text === ':' ? `${text} ` : text);
      this.#next();
    } while (depth > 0);
    if (depth < 0) throw new NotRows();
    return parts.join('');
  }

  #sees(text: string): boolean {
    return this.#token?.kind === 'space' && this.#token.text === text;
  }

  #accept(text: string): boolean {
    if (!this.#sees(text)) return false;
    this.#next();
    return true;
  }

  #require(text: string): void {
    if (!this.#accept(text)) throw new NotRows();
  }

  /** Blanks are left out. The colon after a key has one. */
  #next(): void {
    do {
      const { value, done } = this.#tokens.next();
      this.#token = done === true ? null : { ...value, text: value.kind === 'space' ? value.text.trim() : value.text };
    } while (this.#token?.kind === 'space' && this.#token.text === '');
  }
}

/** @throws NotRows for a string without an end */
function parseString(text: string): string {
  try {
    return JSON.parse(text) as string;
  } catch {
    throw new NotRows();
  }
}
