import { serverConnectionString } from '@pgway/testing';
import { Client } from 'pg';

/** Drops the roles whose names begin with the prefix. Their databases must be dropped before. */
export async function dropRoles(prefix: string): Promise<void> {
  const client = new Client({ connectionString: serverConnectionString() });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      'select pg_catalog.quote_ident(rolname) as name from pg_catalog.pg_roles where starts_with(rolname, $1)',
      [prefix],
    );
    if (rows.length > 0) await client.query(`drop role ${rows.map(({ name }) => name).join(', ')}`);
  } finally {
    await client.end();
  }
}
