import { useDatabase } from '@pgway/testing';
import { afterAll, beforeAll } from 'vitest';
import { functionsSource } from '../../src/catalog/functions-source.ts';
import type { Routine } from '../../src/catalog/routine.ts';
import type { RoutineSource } from '../../src/catalog/routine-source.ts';
import type { TypeFacts } from '../../src/catalog/type-facts.ts';
import type { Filters } from '../../src/catalog/options.ts';
import { connectDatabase } from '../../src/postgres/connect-database.ts';
import { parseConnectionString } from '../../src/postgres/connection-string.ts';
import type { Database } from '../../src/postgres/port.ts';

export interface Catalog {
  /** Runs one or more SQL statements. */
  readonly create: (sql: string) => Promise<void>;
  /** Returns all rows of one statement as text, in the session of the source. */
  readonly query: Database['query'];
  /** Returns the first column of the first row. */
  readonly value: (sql: string) => Promise<string | null>;
  /** Returns the OID of a type by its name in SQL. */
  readonly oid: (type: string) => Promise<number>;
  /** Returns the routines of the built-in source, or of one with a custom query. */
  readonly read: (filters?: Filters, query?: string | null) => Promise<readonly Routine[]>;
  /** Returns the select operation of each table and view. */
  readonly tables: (source: RoutineSource) => Promise<readonly Routine[]>;
  /** Returns the only routine of this name. */
  readonly routine: (name: string) => Promise<Routine>;
}

/** Creates a database for the tests of a file, with the objects that `sql` creates. */
export function useCatalog(sql: string): Catalog {
  const objects = useDatabase(sql);
  let database: Database;
  beforeAll(() => {
    database = connectDatabase(parseConnectionString(objects.connectionString), {
      // A single session, so that a test can change its settings and restore them.
      poolSize: 1,
      acquireTimeout: 10_000,
      statementTimeout: 10_000,
      shareConnections: false,
      planCacheMode: 'auto',
      pooler: 'session',
      preparedStatements: true,
      onNotice: () => undefined,
      onConnectionError: () => undefined,
    });
  });
  afterAll(async () => database.close());

  const query: Catalog['query'] = async (text, values) => database.query(text, values);
  const value: Catalog['value'] = async (text) => (await query(text))[0]?.[0] ?? null;
  const read: Catalog['read'] = async (filters = {}, custom = null) =>
    functionsSource({ query: custom }).read(database, filters);
  return {
    query,
    value,
    read,
    tables: async (source) => source.read(database, {}),
    create: async (text) => void (await objects.query(text)),
    oid: async (type) => Number(await value(`select '${type}'::regtype::oid`)),
    routine: async (name) => {
      const found = await read({ includeNames: [name] });
      if (found.length !== 1) throw new Error(`${found.length} routines are called ${name}`);
      return found[0]!;
    },
  };
}

function builtin(name: string, oid: number, facts: Partial<TypeFacts>): TypeFacts {
  const sql = `"pg_catalog"."${name}"`;
  return {
    sql,
    display: name,
    oid,
    baseOid: oid,
    kind: 'base',
    json: 'string',
    textual: false,
    builtin: name,
    ...facts,
  };
}

/** Types with the same properties in every database. */
export const integer: TypeFacts = builtin('int4', 23, { display: 'integer', json: 'number' });
export const text: TypeFacts = builtin('text', 25, { textual: true });
export const boolean: TypeFacts = builtin('bool', 16, { display: 'boolean', json: 'boolean' });
export const timestamptz: TypeFacts = builtin('timestamptz', 1184, {
  display: 'timestamp with time zone',
  json: 'timestamptz',
});
export const jsonb: TypeFacts = builtin('jsonb', 3802, { json: 'json' });
export const numeric: TypeFacts = builtin('numeric', 1700, { json: 'number' });
export const date: TypeFacts = builtin('date', 1082, {});
export const integers: TypeFacts = builtin('_int4', 1007, {
  display: 'integer[]',
  json: 'converted',
  element: integer,
});
export const texts: TypeFacts = builtin('_text', 1009, { display: 'text[]', json: 'converted', element: text });
