/** The database that the embedded PostgreSQL has for a project, in place of the example: empty at first. */
import { ownerConnection, setUpOwner, withClient } from './owned-database.ts';

const app = { name: 'app', owner: 'app_owner' };

/** Objects with a smaller identifier are those of PostgreSQL itself. */
const hasObjectsSql = `select exists (select from pg_catalog.pg_class where oid >= 16384 and relpersistence <> 't')
  or exists (select from pg_catalog.pg_proc where oid >= 16384)
  or exists (select from pg_catalog.pg_type where oid >= 16384 and typtype in ('d', 'e', 'r'))
  or exists (select from pg_catalog.pg_largeobject_metadata) as found`;

const ownerSql = `select pg_catalog.pg_get_userbyid(datdba) as owner from pg_catalog.pg_database where datname = $1`;

/**
 * Creates the database unless it exists. Returns the connection string of its owner.
 * Data directories of earlier versions have the objects of the project in the database `postgres`: returns its connection string then.
 * @param connectionString of a superuser, to the database `postgres`
 */
export function openAppDatabase(connectionString: string): Promise<string> {
  return withClient(connectionString, async (client) => {
    // Commands that start together create it once. The end of the connection releases the lock.
    await client.query(`select pg_catalog.pg_advisory_lock(pg_catalog.hashtext('pgway database app'))`);
    const { rows } = await client.query<{ owner: string }>(ownerSql, [app.name]);
    const found = rows[0]?.owner;
    if (found === undefined) {
      const [objects] = (await client.query<{ found: boolean }>(hasObjectsSql)).rows;
      if (objects!.found) return connectionString;
    } else if (found !== app.owner) return connectionString;
    await setUpOwner(client, connectionString, app.owner);
    if (found === undefined) {
      await client.query(`create database ${app.name} owner ${app.owner} encoding 'UTF8' template template0`);
    }
    return ownerConnection(connectionString, app);
  });
}
