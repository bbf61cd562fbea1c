import { cancelStatement, openClient, parseConnectionString } from '@pgway/core/connection';

type Client = Awaited<ReturnType<typeof openClient>>;

/** An error of PostgreSQL; `position` counts the characters of the statement from 1. */
export interface StatementError {
  readonly code: string;
  readonly message: string;
  readonly detail?: string;
  readonly hint?: string;
  readonly position?: number;
}

export interface StatementRows {
  /** In PostgreSQL's text format. */
  readonly rows: readonly (readonly (string | null)[])[];
  readonly columns: readonly { readonly name: string; readonly type: number }[];
  /** Of a statement without result columns: the rows that it has changed. */
  readonly count: number;
}

/** The session of a test was lost: nothing of the test remains, and its result is unknown. */
export class SessionLost extends Error {
  override readonly name = 'SessionLost';
}

const asText = { getTypeParser: () => (value: string) => value };

/** Restores what the session began with, as no setting of a request reaches the next one. */
const resetSettings = 'reset session authorization; reset role; reset all';
const savepoint = 'pgway_test';
const cancelTimeoutMs = 5_000;

export interface SessionOptions {
  readonly connectionString: string;
  /** Milliseconds of a statement; 0 means no timeout. */
  readonly statementTimeout: number;
}

/** The connection of one test, in a transaction that is never committed: it ends with the connection. */
export class TestSession {
  readonly client: Client;
  readonly #statementTimeout: number;
  /** Sets the mode of the constraints that are deferred at first; null: there are none that can be deferred. */
  #restoreConstraints: string | null = null;
  #lost: Error | null = null;

  private constructor(client: Client, statementTimeout: number) {
    this.client = client;
    this.#statementTimeout = statementTimeout;
    client.on('error', (error) => (this.#lost = error));
  }

  /** @throws as `openClient` */
  static async open({ connectionString, statementTimeout }: SessionOptions): Promise<TestSession> {
    const settings = parseConnectionString(connectionString);
    const client = await openClient({ ...settings, applicationName: 'pgway test' });
    const session = new TestSession(client, statementTimeout);
    await client.query('begin');
    await session.#readConstraints();
    await session.#resetSettings();
    return session;
  }

  /** Runs a statement of the runner itself. */
  async query(text: string, values: readonly unknown[] = []): Promise<readonly Readonly<Record<string, unknown>>[]> {
    this.#requireOpen();
    return (await this.client.query<Record<string, unknown>>(text, [...values])).rows;
  }

  /** Runs a statement of the test. After an error, the transaction is as it was before the statement. */
  async run(sql: string, values: readonly (string | null)[]): Promise<StatementRows | StatementError> {
    this.#requireOpen();
    await this.client.query(`savepoint ${savepoint}`);
    try {
      const result = await this.client.query({ text: sql, values: [...values], rowMode: 'array', types: asText });
      await this.client.query(`release savepoint ${savepoint}`);
      return {
        rows: result.rows as (string | null)[][],
        columns: result.fields.map(({ name, dataTypeID }) => ({ name, type: dataTypeID })),
        count: result.rowCount ?? 0,
      };
    } catch (error) {
      this.#requireOpen();
      const known = toStatementError(error);
      if (known === null) throw error;
      await this.#rollBackStep();
      return known;
    }
  }

  /**
   * Runs a request, as if it had a transaction of its own: with the settings that a session begins with, and with the checks of deferred
   * constraints at its end.
   * @param role returns the role of the call; null: that of the connection
   */
  async runRequest<Product>(
    send: () => Promise<Product>,
    role: (product: Product) => string | null,
  ): Promise<{ readonly product: Product; readonly refusedCommit: StatementError | null }> {
    this.#requireOpen();
    await this.#resetSettings();
    await this.client.query(`savepoint ${savepoint}`);
    const product = await send();
    this.#requireOpen();
    const hasFailed = this.client.getTransactionStatus() === 'E';
    const refusedCommit = hasFailed ? null : await this.#checkConstraints(role(product));
    if (hasFailed || refusedCommit !== null) await this.#rollBackStep();
    else await this.client.query(`release savepoint ${savepoint}`);
    await this.#resetSettings();
    return { product, refusedCommit };
  }

  /** Asks the server to cancel the statement that runs. */
  async cancel(): Promise<void> {
    await cancelStatement(this.client, cancelTimeoutMs).catch(() => undefined);
  }

  /** Separates two calls of one request, each of which has a transaction of its own on a server: an error undoes the call alone. */
  async endCall(): Promise<void> {
    this.#requireOpen();
    if (this.client.getTransactionStatus() === 'E') await this.client.query(`rollback to savepoint ${savepoint}`);
    else await this.client.query(`release savepoint ${savepoint}; savepoint ${savepoint}`);
  }

  /** Reports that the connection cannot be used any more. */
  lose(error: Error): void {
    this.#lost ??= error;
  }

  /** Rolls back. Without an answer of the server, the end of the connection does. */
  async close(): Promise<void> {
    if (this.#lost === null) await this.client.query('rollback').catch(() => undefined);
    await this.client.end().catch(() => undefined);
  }

  async #resetSettings(): Promise<void> {
    await this.client.query(`${resetSettings}; set local statement_timeout to ${this.#statementTimeout}`);
  }

  async #rollBackStep(): Promise<void> {
    await this.client.query(`rollback to savepoint ${savepoint}; release savepoint ${savepoint}`);
  }

  async #readConstraints(): Promise<void> {
    const rows = await this.client.query<{ name: string; deferred: boolean }>(deferrableSql);
    if (rows.rows.length === 0) return;
    const names = rows.rows.filter(({ deferred }) => deferred).map(({ name }) => name);
    this.#restoreConstraints = names.length === 0 ? '' : `set constraints ${names.join(', ')} deferred`;
  }

  /** Returns why a commit would fail here; null: it would not. */
  async #checkConstraints(role: string | null): Promise<StatementError | null> {
    if (this.#restoreConstraints === null) return null;
    try {
      if (role !== null) await this.client.query(`select pg_catalog.set_config('role', $1, true)`, [role]);
      await this.client.query('set constraints all immediate');
      await this.client.query(this.#restoreConstraints);
      return null;
    } catch (error) {
      this.#requireOpen();
      const known = toStatementError(error);
      if (known === null) throw error;
      return known;
    }
  }

  /** @throws SessionLost */
  #requireOpen(): void {
    if (this.#lost === null) return;
    throw new SessionLost(`the connection of the test was lost: ${this.#lost.message}`);
  }
}

const deferrableSql = `select pg_catalog.format('%I.%I', n.nspname, c.conname) as name, pg_catalog.bool_or(c.condeferred) as deferred
  from pg_catalog.pg_constraint c join pg_catalog.pg_namespace n on n.oid = c.connamespace
  where c.condeferrable and c.conparentid = 0 group by n.nspname, c.conname order by 1`;

/** Returns an error of PostgreSQL that does not end the session, or null. */
function toStatementError(error: unknown): StatementError | null {
  const { code, message, detail, hint, position, severity } = error as Partial<
    Record<keyof StatementError | 'severity', string>
  >;
  if (typeof code !== 'string' || !/^[\dA-Z]{5}$/.test(code) || severity === 'FATAL' || severity === 'PANIC')
    return null;
  return {
    code,
    message: message ?? '',
    ...(detail === undefined ? {} : { detail }),
    ...(hint === undefined ? {} : { hint }),
    ...(position === undefined ? {} : { position: Number(position) }),
  };
}
