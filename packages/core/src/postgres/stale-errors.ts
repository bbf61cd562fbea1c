/** The result columns of a statement have changed since the catalog was read. */
export class ColumnMismatch extends Error {
  override readonly name = 'ColumnMismatch';
  /** The text of the statement; null: another check has found the difference. */
  readonly sql: string | null;
  /** Whether the statement may have run: its columns were checked with its result. */
  readonly hasRun: boolean;

  constructor(message: string, sql: string | null = null, hasRun = true) {
    super(message);
    this.sql = sql;
    this.hasRun = hasRun;
  }
}

/** The routine of an endpoint was dropped or created anew since the catalog was read. Its call did not run. */
export class RoutineChanged extends Error {
  override readonly name = 'RoutineChanged';
  /** That of the guard. */
  readonly signature: string;
  /** Whether another attempt can find out that its comment is the same. */
  readonly mayBeSame: boolean;

  constructor(signature: string, reason: string, mayBeSame = false) {
    super(`${signature} ${reason}`);
    this.signature = signature;
    this.mayBeSame = mayBeSame;
  }
}
