/** Databases of the embedded PostgreSQL, each with a role that owns it: published endpoints must not run as a superuser. */
import { createHmac } from 'node:crypto';
import { Client } from 'pg';

export interface OwnedDatabase {
  readonly name: string;
  readonly owner: string;
}

/**
 * The password is derived from that of the superuser: no file needs to have it, and each command finds it.
 * @param connectionString of a superuser, to any database of the server
 */
export function ownerConnection(connectionString: string, { name, owner }: OwnedDatabase): string {
  const url = new URL(connectionString);
  url.password = ownerPassword(connectionString, owner);
  url.pathname = `/${name}`;
  url.username = owner;
  return url.href;
}

function ownerPassword(connectionString: string, owner: string): string {
  return createHmac('sha256', new URL(connectionString).password).update(owner).digest('hex');
}

/** Creates the role unless it exists. `alter role` takes no parameters; the password consists of hexadecimal digits. */
export async function setUpOwner(client: Client, connectionString: string, owner: string): Promise<void> {
  const found = await client.query('select from pg_catalog.pg_roles where rolname = $1', [owner]);
  if (found.rowCount === 0) await client.query(`create role ${owner} login`);
  await client.query(`alter role ${owner} password '${ownerPassword(connectionString, owner)}'`);
}

export async function withClient<Result>(
  connectionString: string,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
