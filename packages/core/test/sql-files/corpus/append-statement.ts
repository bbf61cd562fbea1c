import type { FileStatement, Piece, StatementPart } from './oracle.ts';

/** `{name}`, `{name:type}`, and `{name!shown}` for a parameter that the file writes `:shown`. */
export const placeholder = /\{([a-z_]+)(?:!([a-z_]+))?(?::([a-z[\]]+))?\}/g;

export interface StatementWriting {
  readonly part: StatementPart;
  /** Writes a parameter as the file has it. */
  readonly write: (name: string) => string;
  /** The types that comments give parameters, besides those of the placeholders. */
  readonly types?: ReadonlyMap<string, string>;
}

/** Appends a statement with placeholders to the text of a file. */
export function appendStatement(
  before: string,
  template: string,
  { part, write, types }: StatementWriting,
): { readonly text: string; readonly statement: FileStatement } {
  const uses = new Map<string, number>();
  const pieces: Piece[] = [];
  let text = before;
  let sql = '';
  let at = 0;
  const add = (plain: string): void => {
    pieces.push({ inFile: text.length, inSql: sql.length, length: plain.length });
    text += plain;
    sql += plain;
  };
  for (const match of template.matchAll(placeholder)) {
    const [whole, key, shown, type = types?.get(key!)] = match;
    add(template.slice(at, match.index));
    if (!uses.has(key!)) uses.set(key!, text.length);
    const number = `$${[...uses.keys()].indexOf(key!) + 1}`;
    sql += type === undefined ? number : `(${number}::${type})`;
    text += shown === undefined ? write(key!) : `:${shown}`;
    at = match.index + whole.length;
  }
  add(template.slice(at));
  return { text, statement: { sql, pieces, uses, part } };
}
