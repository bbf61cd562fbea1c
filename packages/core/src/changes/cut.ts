import { normalizeLsn } from '../postgres/wal-position.ts';
import type { Database, Statement, Transaction } from '../postgres/port.ts';
import { createTextRowSink } from '../postgres/query.ts';
import { nextStatementName } from '../postgres/statement-cache.ts';
import {
  type Definitions,
  definitionsSql,
  type DefinitionSubjects,
  definitionValues,
  parseDefinitions,
} from './definitions.ts';
import { parseSnapshot, type SnapshotVisibility } from './snapshot-visibility.ts';

export interface CutOptions {
  /** The major version. */
  readonly serverVersion: number;
  /** The watched tables, and the roles that read them. */
  readonly subjects: DefinitionSubjects;
  readonly publication: string;
  /** The slot of the reader. */
  readonly slot: string;
  /** Milliseconds. */
  readonly timeout: number;
}

/** An exported snapshot of the database, which other transactions can read while it is held. */
export class Cut {
  /** The identifier for SET TRANSACTION SNAPSHOT. */
  readonly snapshot: string;
  readonly visibility: SnapshotVisibility;
  /** The insert position of the log after the snapshot: everything that the snapshot shows is before it. */
  readonly insertLsn: bigint;
  /** Everything before this position is flushed, so that a walsender can send it. */
  readonly flushLsn: bigint;
  /** `<timeline>-<insert position>`, in hexadecimal digits of fixed length. */
  readonly position: string;
  /** Whether the slot of the reader is on the server of the snapshot. */
  readonly hasSlot: boolean;
  /** As the snapshot shows them. */
  readonly definitions: Definitions;
  /** By `performance.now()`. */
  readonly takenAt: number;
  /** The same moment in milliseconds since 1970. */
  readonly takenAtTime: number;
  readonly #transaction: Transaction;
  #uses = 1;

  private constructor(transaction: Transaction, row: readonly (string | null)[], takenAt: number) {
    const [snapshot, visibility, insertLsn, flushLsn, hasSlot, ...definitions] = row;
    this.#transaction = transaction;
    this.snapshot = snapshot!;
    this.visibility = parseSnapshot(visibility!);
    this.insertLsn = parseLsn(insertLsn!);
    this.flushLsn = parseLsn(flushLsn!);
    this.hasSlot = hasSlot === 't';
    this.definitions = parseDefinitions(definitions);
    this.position = `${this.definitions.timeline}-${normalizeLsn(insertLsn!)}`;
    this.takenAt = takenAt;
    this.takenAtTime = Date.now() - (performance.now() - takenAt);
  }

  /** Takes a snapshot on a connection that stays in its transaction until the last use has ended. */
  static async take(
    holders: Database,
    { serverVersion, subjects, publication, slot, timeout }: CutOptions,
  ): Promise<Cut> {
    const rows = createTextRowSink();
    const takenAt = performance.now();
    // The statements that begin a transaction are not prepared. Each cut runs this one: to parse and plan it takes PostgreSQL longer than to run it.
    const transaction = await holders.begin({
      settings: null,
      restoreSettings: null,
      role: undefined,
      isolation: 'repeatable read',
      altersSession: false,
      timeout,
    });
    const values = [...definitionValues(subjects, publication), slot];
    try {
      await transaction.run([{ statement: snapshotStatement(serverVersion), values, rows }]);
    } catch (error) {
      void transaction.rollback();
      throw error;
    }
    return new Cut(transaction, rows.rows[0]!, takenAt);
  }

  /** Keeps the snapshot until one more `release`. */
  use(): void {
    this.#uses++;
  }

  /** Ends the snapshot with its connection. */
  disconnect(): void {
    this.#uses = 0;
    void this.#transaction.run([{ statement: terminateStatement, values: [] }]).catch(() => undefined);
  }

  /** Ends the snapshot with its last use. Transactions that read it keep it. */
  release(): void {
    if (--this.#uses === 0) void this.#transaction.rollback();
  }
}

const terminateStatement: Statement = {
  name: '',
  sql: 'select pg_catalog.pg_terminate_backend(pg_catalog.pg_backend_pid())',
};

const statements = new Map<number, Statement>();

function snapshotStatement(serverVersion: number): Statement {
  let statement = statements.get(serverVersion);
  if (statement === undefined) {
    statement = { name: nextStatementName(), sql: snapshotSql(serverVersion) };
    statements.set(serverVersion, statement);
  }
  return statement;
}

/** The timeouts of the server would end a transaction that waits. */
function snapshotSql(serverVersion: number): string {
  const timeouts = ['idle_in_transaction_session_timeout', ...(serverVersion >= 17 ? ['transaction_timeout'] : [])];
  const settings = timeouts.map((name) => `, pg_catalog.set_config('${name}', '0', true)`).join('');
  return `select pg_catalog.pg_export_snapshot(), pg_catalog.pg_current_snapshot()::pg_catalog.text,
  pg_catalog.pg_current_wal_insert_lsn(), pg_catalog.pg_current_wal_flush_lsn(),
  exists (select from pg_catalog.pg_replication_slots as s where s.slot_name operator(pg_catalog.=) $4::pg_catalog.name),
  ${definitionsSql(serverVersion)}${settings}`;
}

/** Parses a `pg_lsn` such as `16/B374D848`. */
export function parseLsn(text: string): bigint {
  return BigInt(`0x${normalizeLsn(text)}`);
}

/** Makes PostgreSQL flush its log, which transactions with `synchronous_commit = off` leave to a later moment. */
export function flushLog(database: Database, serverVersion: number, timeout: number): Promise<void> {
  return new Promise((resolve, reject) => {
    database.run({
      steps: [{ statement: serverVersion >= 17 ? flushStatement : emitStatement, values: [] }],
      mayShare: false,
      timeout,
      done: () => resolve(),
      failed: reject,
    });
  });
}

const flushStatement: Statement = {
  name: nextStatementName(),
  sql: `select pg_catalog.pg_logical_emit_message(false, 'pgway', '', true)`,
};

/** Before PostgreSQL 17, only a commit flushes. */
const emitStatement: Statement = {
  name: nextStatementName(),
  sql: `select pg_catalog.set_config('synchronous_commit', 'local', true), pg_catalog.pg_logical_emit_message(true, 'pgway', '')`,
};
