import type { Database, WalPosition } from './port.ts';
import { lastRecordEnd, normalizeLsn } from './wal-position.ts';

/** Milliseconds. */
const timeout = 2_000;

/** `pg_walfile_name` begins with the timeline. PostgreSQL raises 55000 on a standby. */
const primarySql = `select identity.system_identifier, pg_catalog.current_database(), pg_catalog.pg_walfile_name(lsn), lsn,
  pg_catalog.current_setting('wal_block_size')
from pg_catalog.pg_control_system() identity, pg_catalog.pg_current_wal_insert_lsn() lsn`;

/**
 * The control file has the timeline of the latest restart point and of the latest flush. Only members of `pg_read_all_stats` see the
 * timeline that is received.
 */
const standbySql = `select identity.system_identifier, pg_catalog.current_database(), pg_catalog.pg_is_in_recovery(),
  greatest(
    (select timeline_id from pg_catalog.pg_control_checkpoint()),
    (select min_recovery_end_timeline from pg_catalog.pg_control_recovery()),
    (select received_tli from pg_catalog.pg_stat_wal_receiver)
  ),
  pg_catalog.pg_last_wal_replay_lsn()
from pg_catalog.pg_control_system() identity`;

/** The cluster and database of a server. */
export interface ServerIdentity {
  readonly system: string;
  readonly database: string;
}

/** The state of the primary: everything committed before the query is before its position. */
export interface PrimaryState extends ServerIdentity {
  readonly position: WalPosition;
}

/** The state of a server that should be a replica. */
export interface StandbyState extends ServerIdentity {
  readonly isInRecovery: boolean;
  /** The position up to which changes are visible; null: none was replayed. */
  readonly replayed: WalPosition | null;
}

/** @throws DatabaseError 55000 for a standby, and the errors of `Database.query` */
export async function readPrimary(database: Database): Promise<PrimaryState> {
  const [row] = await database.query(primarySql, [], { timeout });
  const [system, name, walFile, lsn, pageSize] = row!;
  return {
    system: system!,
    database: name!,
    position: { timeline: walFile!.slice(0, 8), lsn: lastRecordEnd(normalizeLsn(lsn!), Number(pageSize)) },
  };
}

/** @throws the errors of `Database.query` */
export async function readStandby(database: Database): Promise<StandbyState> {
  const [row] = await database.query(standbySql, [], { timeout });
  const [system, name, isInRecovery, timeline, lsn] = row!;
  return {
    system: system!,
    database: name!,
    isInRecovery: isInRecovery === 't',
    replayed: lsn === null ? null : { timeline: formatTimeline(timeline!), lsn: normalizeLsn(lsn!) },
  };
}

function formatTimeline(decimal: string | null): string {
  return Number(decimal).toString(16).toUpperCase().padStart(8, '0');
}
