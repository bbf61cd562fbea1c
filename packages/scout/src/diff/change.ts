/** The changes that turn one schema into the other. */
import { type DatabaseObject, objectLine } from '../catalog/objects.ts';

/** What a statement can do to rows and to other sessions: the first word of its comment in the script. */
export type Effect = 'FAILS IF' | 'LOCKS' | 'LOSES' | 'REWRITES';

/** A comment of a statement; the text continues the sentence that the effect begins. */
export interface Note {
  readonly effect: Effect;
  readonly text: string;
}

export interface Statement {
  readonly sql: string;
  readonly notes: readonly Note[];
  /** What replaces it with `--online`. */
  readonly online?: OnlineForm;
}

/** A statement beside the transaction. Those that build, validate or remove something are alone. */
export interface OnlineStep extends Pick<Statement, 'sql' | 'notes'> {
  readonly kind: 'build' | 'change' | 'validate' | 'remove';
}

/** The steps before the transaction, the statements in it, and the steps after it. */
export interface OnlineForm {
  readonly before: readonly OnlineStep[];
  readonly within: readonly Pick<Statement, 'sql' | 'notes'>[];
  readonly after: readonly OnlineStep[];
}

export type Action = 'create' | 'alter' | 'drop' | 'rename';

export interface Change {
  readonly object: DatabaseObject;
  readonly action: Action;
  readonly statements: readonly Statement[];
  /** False for new values of an enum, which can only be used after the end of the transaction that adds them. */
  readonly isTransactional: boolean;
}

export function plainStatements(texts: readonly string[]): readonly Statement[] {
  return texts.map((sql) => ({ sql, notes: [] }));
}

/** Returns the statements with the notes at the first of them. */
export function notedStatements(texts: readonly string[], notes: readonly Note[]): readonly Statement[] {
  return texts.map((sql, index) => ({ sql, notes: index === 0 ? notes : [] }));
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
