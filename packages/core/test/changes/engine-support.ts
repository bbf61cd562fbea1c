import type { TestDatabase } from '@pgway/testing';
import { onTestFinished } from 'vitest';
import { ChangeEngine, type ChangeEngineOptions } from '../../src/changes/change-engine.ts';
import type { ResultColumn } from '../../src/endpoints/endpoint.ts';
import type {
  ChangeFeed,
  ChangeMessage,
  ChangeQuery,
  ChangeRequest,
  ChangeSubscription,
} from '../../src/ports/changes.ts';
import { connectDatabase } from '../../src/postgres/connect-database.ts';
import { parseConnectionString } from '../../src/postgres/connection-string.ts';
import type { Database } from '../../src/postgres/port.ts';
import { type ChangeReader, openChangeReader } from '../../src/postgres/replication/change-reader.ts';

export const publication = 'pgway_changes';

/** Replaces parts of the reader, to break a rule. */
export type ReaderChange = (reader: ChangeReader) => ChangeReader;

export interface TestEngine {
  readonly engine: ChangeEngine;
  readonly failures: Error[];
  close(): Promise<void>;
}

export function openDatabase(connectionString: string, poolSize: number): Database {
  return connectDatabase(parseConnectionString(connectionString), {
    poolSize,
    minPoolSize: 0,
    acquireTimeout: 20_000,
    statementTimeout: 20_000,
    shareConnections: true,
    planCacheMode: 'auto',
    pooler: 'session',
    preparedStatements: true,
    onNotice: () => undefined,
    onConnectionError: () => undefined,
  });
}

/** Starts an engine, and waits until it reads the log. It closes after the test. */
export async function startEngine(
  { connectionString }: Pick<TestDatabase, 'connectionString'>,
  options: Partial<ChangeEngineOptions> & {
    readonly changeReader?: ReaderChange;
    readonly changeXid?: (xid: number) => number;
    /** Resolves when a reader may be opened. */
    readonly canOpen?: () => Promise<void>;
  } = {},
): Promise<TestEngine> {
  const {
    changeReader = (reader) => reader,
    changeXid = (xid) => xid,
    canOpen = () => Promise.resolve(),
    ...own
  } = options;
  const connection = parseConnectionString(connectionString);
  const [holders, lookups] = [openDatabase(connectionString, 5), openDatabase(connectionString, 8)];
  const [{ version }] = (await holders.query(`select current_setting('server_version_num')`)).map(([text]) => ({
    version: Math.trunc(Number(text) / 10_000),
  })) as [{ version: number }];
  const failures: Error[] = [];
  let opened: () => void = () => undefined;
  const isOpen = new Promise<void>((resolve) => (opened = resolve));
  const engine = new ChangeEngine({
    findObstacle: () => null,
    openReader: async (events, signal) => {
      await canOpen();
      return changeReader(
        await openChangeReader({
          connection,
          publication,
          maxKeys: own.maxKeys ?? 50_000,
          signal,
          onTransaction: (transaction) => events.onTransaction({ ...transaction, xid: changeXid(transaction.xid) }),
          onFailure: (error) => events.onFailure(error),
        }),
      );
    },
    publication,
    holders,
    lookups,
    serverVersion: () => version,
    windowMs: 0,
    maxAgeMs: 10_000,
    lookupTimeoutMs: 5_000,
    maxKeys: 50_000,
    replay: { ageMs: 60_000, bytes: 16 * 1024 ** 2 },
    report: ({ unavailable }) => (unavailable === null ? opened() : failures.push(unavailable)),
    onStale: () => undefined,
    ...own,
  });
  engine.start();
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> =>
    (closing ??= engine.close().then(async () => {
      await holders.close();
      await lookups.close();
    }));
  onTestFinished(close);
  await isOpen;
  return { engine, failures, close };
}

const type = (json: 'number' | 'string', builtin: string): ResultColumn['type'] =>
  ({ sql: `"pg_catalog"."${builtin}"`, display: builtin, oid: 0, kind: 'base', json, builtin }) as never;

export function column(name: string, json: 'number' | 'string'): ResultColumn {
  return { name, key: name, type: type(json, json === 'number' ? 'int4' : 'text') };
}

/** Returns the query of a table with the key `id`. */
export function queryOf(
  table: string,
  columns: readonly ResultColumn[],
  { filter = 'true', values = [] }: { readonly filter?: string; readonly values?: readonly string[] } = {},
): ChangeQuery {
  const list = columns.map(({ name }) => `"r"."${name}"`).join(', ');
  return {
    relation: { schema: 'public', name: table },
    keyColumns: ['id'],
    sql: `select "k"."n", "r"."id", ${list} from unnest($1::int4[]) with ordinality as "k"("c1", "n")
      join "public"."${table}" as "r" on "r"."id" = "k"."c1" where ${filter}`,
    values,
    keys: [column('id', 'number')],
    columns,
    altersTransaction: false,
    altersSession: false,
  };
}

export function requestOf(query: ChangeQuery, more: Partial<ChangeRequest> = {}): ChangeRequest {
  return {
    query,
    identity: { role: undefined, settings: [], key: '' },
    operations: ['insert', 'update', 'delete'],
    withOld: false,
    withUnchanged: false,
    route: null,
    gapOn: [],
    snapshot: null,
    lastEventId: null,
    ...more,
  };
}

export interface TestSubscriber {
  readonly messages: ChangeMessage[];
  readonly ends: string[];
  readonly subscription: ChangeSubscription;
}

export async function subscribe(
  engine: Pick<ChangeFeed, 'subscribe'>,
  request: ChangeRequest,
): Promise<TestSubscriber> {
  const messages: ChangeMessage[] = [];
  const ends: string[] = [];
  const subscription = await engine.subscribe(request, {
    message: (message) => messages.push(message),
    ended: (reason) => ends.push(reason),
  });
  return { messages, ends, subscription };
}

/** Returns messages as lines: `insert {"id":1}`, `delete was {"id":1}`, `gap schema-changed`, `rows {…}`. */
export function asLines(messages: readonly ChangeMessage[]): readonly string[] {
  return messages.flatMap((message) => {
    switch (message.kind) {
      case 'begin':
        return ['begin'];
      case 'gap':
        return [`gap ${message.reason}`];
      case 'rows':
        return [`${message.isReset ? 'reset' : 'rows'} ${message.rows.map(asText).join(' ')}`];
      case 'changes':
        return message.changes.map(({ operation, record, old }) =>
          [operation, ...(record === null ? [] : [asText(record)]), ...(old === null ? [] : ['was', asText(old)])].join(
            ' ',
          ),
        );
    }
  });
}

function asText(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString();
}
