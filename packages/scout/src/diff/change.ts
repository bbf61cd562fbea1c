/** The changes that turn one schema into the other. */
import { type DatabaseObject, objectLine } from '../catalog/objects.ts';

export interface Statement {
  readonly sql: string;
  /** The data that the statement deletes; null: none. */
  readonly loss: string | null;
  /** A comment for the reader of the script; null for none. */
  readonly note: string | null;
}

export type Action = 'create' | 'alter' | 'drop';

export interface Change {
  readonly object: DatabaseObject;
  readonly action: Action;
  readonly statements: readonly Statement[];
  /** False for new values of an enum, which can only be used after the end of the transaction that adds them. */
  readonly isTransactional: boolean;
}

export function plainStatements(texts: readonly string[]): readonly Statement[] {
  return texts.map((sql) => ({ sql, loss: null, note: null }));
}

/** Joins neighbors of the same object and action. */
export function joinChanges(changes: readonly Change[]): readonly Change[] {
  const joined: Change[] = [];
  for (const change of changes.filter(({ statements }) => statements.length > 0)) {
    const last = joined.at(-1);
    const isSame =
      last !== undefined &&
      objectLine(last.object) === objectLine(change.object) &&
      last.action === change.action &&
      last.isTransactional === change.isTransactional;
    if (isSame) joined[joined.length - 1] = { ...last, statements: [...last.statements, ...change.statements] };
    else joined.push(change);
  }
  return joined;
}
