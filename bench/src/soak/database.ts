import { packageOfMajor } from '@pgway/testing/postgres-packages';
import pg from 'pg';

import { startTemporaryServer } from '../temporary-server.ts';
import { soakSchemaSql } from './schema.sql.ts';
import { type Roles, roleNames } from './users.ts';

export interface SoakServer {
  readonly connectionString: string;
  readonly version: string;
  stop(): Promise<void>;
}

/** A database with the schema of the soak, and its roles. */
export interface SoakDatabase {
  /** The connection string of the gateway. */
  readonly connectionString: string;
  readonly roles: Roles;
  /** Runs SQL as the superuser. */
  query<Row extends pg.QueryResultRow>(sql: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** Holds an advisory lock until the returned function is called. */
  hold(key: number): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

const password = 'soak';

export async function startServer(major: string): Promise<SoakServer> {
  return startTemporaryServer({ max_connections: '200' }, await packageOfMajor(major));
}

/** Creates a database and its roles. Their names end with the suffix, because roles belong to the server. */
export async function createDatabase(server: SoakServer, suffix: string): Promise<SoakDatabase> {
  const roles = roleNames(suffix);
  const name = `soak_${suffix}`;
  const setUp = new pg.Client({ connectionString: server.connectionString });
  await setUp.connect();
  try {
    await setUp.query(rolesSql(roles));
    await setUp.query(`create database ${name} template template0`);
  } finally {
    await setUp.end();
  }
  const url = new URL(server.connectionString);
  url.pathname = `/${name}`;
  const pool = new pg.Pool({ connectionString: url.href, max: 3 });
  pool.on('error', () => undefined);
  await pool.query(soakSchemaSql(roles));
  url.username = roles.gateway;
  url.password = password;
  return {
    connectionString: url.href,
    roles,
    query: async (sql, values) => (await pool.query(sql, values === undefined ? undefined : [...values])).rows,
    async hold(key) {
      const client = await pool.connect();
      await client.query('select pg_advisory_lock($1)', [key]);
      return async () => {
        await client.query('select pg_advisory_unlock($1)', [key]);
        client.release();
      };
    },
    close: () => pool.end(),
  };
}

function rolesSql({ gateway, reader, writer, admin, anonymous }: Roles): string {
  return `
    create role ${reader};
    create role ${writer};
    create role ${admin};
    create role ${anonymous};
    create role ${gateway} login password '${password}';
    grant ${reader}, ${writer}, ${admin}, ${anonymous} to ${gateway};`;
}
