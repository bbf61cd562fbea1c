import { allStandbysFault, includesAllStandbys } from '../../postgres/replication/synchronous-standbys.ts';
import { displayIdentifier } from '../../catalog/quote.ts';
import { findIdentityFault, findKindFault, neededColumns, sqlName, type TableFault } from './identity-fault.ts';
import type { TableName } from '../../catalog/table-name.ts';
import { type LogFacts, publicationName, type TableFacts } from './log-facts.ts';

/** A reason why changes cannot be read, or are read slowly. */
export interface ChangesObstacle {
  /** `warning`: the stream works, and needs more time than it should. */
  readonly severity: 'error' | 'warning';
  readonly code: string;
  /** The table whose streams it concerns; null: all streams. */
  readonly table: TableName | null;
  /** What is wrong, and the statement that mends it. */
  readonly message: string;
}

/** The slot and connection that the process already uses. */
export interface ReaderUse {
  /** Whether the log is read: then its slot and connection are among the used ones. */
  readonly isReading: boolean;
}

type Fault = Omit<TableFault, 'statement'> & { readonly remedy: string };

/** Returns everything that keeps changes of the tables from being read. */
export function findObstacles(facts: LogFacts, { isReading }: ReaderUse): readonly ChangesObstacle[] {
  const ofServer = [...serverFaults(facts, isReading), ...publicationFaults(facts)].map((fault) =>
    toObstacle('error', null, fault),
  );
  const ofTables = facts.publication === null ? [] : facts.tables.flatMap((table) => tableObstacles(table, facts));
  return [...ofServer, ...ofTables];
}

/** Returns what keeps changes of tables from being in the log, whatever is wrong with the server. */
export function findTableObstacles(facts: LogFacts): readonly ChangesObstacle[] {
  const kinds = facts.tables.flatMap((table) => {
    const fault = findKindFault(table);
    return fault === null ? [] : [toObstacle('error', table, withRemedy(fault))];
  });
  if (kinds.length > 0) return kinds;
  const ofPublication = publicationFaults(facts).map((fault) => toObstacle('error', null, fault));
  if (facts.publication === null) return ofPublication;
  return [...ofPublication, ...facts.tables.flatMap((table) => tableObstacles(table, facts))].filter(
    ({ severity }) => severity === 'error',
  );
}

function toObstacle(severity: ChangesObstacle['severity'], table: TableName | null, fault: Fault): ChangesObstacle {
  const name = table === null ? null : { schema: table.schema, name: table.name };
  return { severity, code: fault.code, table: name, message: `${fault.message}; ${fault.remedy}` };
}

function serverFaults(facts: LogFacts, isReading: boolean): readonly Fault[] {
  const { isStandby, walLevel, user, mayReplicate, standbyNames } = facts;
  const faults: (Fault | null)[] = [
    isStandby
      ? {
          code: 'standby',
          message: 'the server is a standby',
          remedy: 'let changes.connectionString lead to the primary',
        }
      : null,
    walLevel === 'logical'
      ? null
      : {
          code: 'wal-level',
          message: `wal_level is ${walLevel}`,
          remedy: 'run: alter system set wal_level = logical; and restart PostgreSQL',
        },
    mayReplicate
      ? null
      : {
          code: 'no-replication',
          message: `the user ${user} may not read the log`,
          remedy: `run: alter role ${displayIdentifier(user)} replication`,
        },
    includesAllStandbys(standbyNames) ? { code: 'synchronous-standby', ...allStandbysFault(standbyNames) } : null,
    isReading ? null : capacityFault('max_wal_senders', facts.usedSenders, facts.senders),
    isReading ? null : capacityFault('max_replication_slots', facts.usedSlots, facts.slots),
  ];
  return faults.filter((fault) => fault !== null);
}

function capacityFault(setting: string, used: number, all: number): Fault | null {
  if (used < all) return null;
  return {
    code: setting.replaceAll('_', '-'),
    message: `all ${all} of ${setting} are in use`,
    remedy: `run: alter system set ${setting} = ${Math.max(10, all + 5)}; and restart PostgreSQL`,
  };
}

const neededOperations = ['insert', 'update', 'delete', 'truncate'] as const;

function publicationFaults({ publication, tables }: LogFacts): readonly Fault[] {
  if (publication === null)
    return [
      {
        code: 'no-publication',
        message: `the database has no publication ${publicationName}`,
        remedy: `run: ${installCommand(tables)}`,
      },
    ];
  const missing = neededOperations.filter((operation) => !publication.operations.includes(operation));
  return missing.length === 0
    ? []
    : [
        {
          code: 'operations',
          message: `the publication ${publicationName} does not have ${missing.join(', ')}`,
          remedy: `run: alter publication ${publicationName} set (publish = '${neededOperations.join(', ')}')`,
        },
      ];
}

function installCommand(tables: readonly TableName[]): string {
  return `pgway install changes ${tables.map(sqlName).join(' ')}`.trim();
}

function tableObstacles(table: TableFacts, facts: LogFacts): readonly ChangesObstacle[] {
  const kind = findKindFault(table);
  if (kind !== null) return [toObstacle('error', table, withRemedy(kind))];
  const faults = [publishedFault(table, facts), findIdentityFault(table), columnsFault(table)].filter(
    (fault) => fault !== null,
  );
  const slow = slowKey(table);
  return [
    ...faults.slice(0, 1).map((fault) => toObstacle('error', table, 'remedy' in fault ? fault : withRemedy(fault))),
    ...(slow === null ? [] : [toObstacle('warning', table, slow)]),
  ];
}

function withRemedy({ code, message, statement }: TableFault): Fault {
  const remedy = statement === null ? `then run: pgway install changes` : `run: ${statement}`;
  return { code, message, remedy };
}

function publishedFault(table: TableFacts, { publication }: LogFacts): Fault | null {
  const name = sqlName(table);
  const { kind, isPublished, rowFilter } = table;
  // Without `publish_via_partition_root`, the partitions are published in place of the table.
  if (kind === 'p' && publication!.viaRoot === false)
    return {
      code: 'via-root',
      message: `the publication ${publicationName} has changes of partitions, and not of ${name}`,
      remedy: `run: alter publication ${publicationName} set (publish_via_partition_root = true)`,
    };
  if (!isPublished)
    return {
      code: 'not-published',
      message: `the publication ${publicationName} does not have the table ${name}`,
      remedy: `run: ${installCommand([table])}`,
    };
  if (rowFilter === null) return null;
  return {
    code: 'row-filter',
    message: `the publication ${publicationName} has only some rows of ${name}: ${rowFilter}`,
    remedy: `run: ${installCommand([table])}`,
  };
}

/** With columns missing, the writes of the application fail, too. */
function columnsFault(table: TableFacts): Fault | null {
  const { publishedColumns } = table;
  if (publishedColumns === null) return null;
  const needed = neededColumns(table);
  const missing = needed?.filter((column) => !publishedColumns.includes(column)) ?? null;
  if (missing?.length === 0) return null;
  return {
    code: 'columns',
    message: `the publication ${publicationName} does not have ${missing?.map(displayIdentifier).join(', ') ?? 'all columns'} of the replica identity of ${sqlName(table)}, so that PostgreSQL refuses every UPDATE and DELETE of it (42P10)`,
    remedy: `run: ${installCommand([table])}`,
  };
}

function slowKey(table: TableFacts): Fault | null {
  const { hasPolicies, leakingColumns } = table;
  if (hasPolicies !== true || leakingColumns === null) return null;
  return {
    code: 'slow-key',
    message: `the equality of ${leakingColumns.map(displayIdentifier).join(', ')} of ${sqlName(table)} is not leakproof, so that each read of changed rows below its policies reads the whole table`,
    remedy: 'use a key of type integer, bigint, uuid or text',
  };
}
