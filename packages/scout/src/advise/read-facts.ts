/** Reads what the rules know of the catalog. */
import type { Client } from 'pg';
import type { Progress } from '../output/progress.ts';
import {
  type CatalogFacts,
  type ForeignKey,
  type Index,
  limitedRoles,
  type MissingGrant,
  type Named,
  type Policy,
  type Relation,
  type Role,
  type Routine,
  type Served,
  type ServedEndpoint,
  type Server,
} from './facts.ts';
import {
  foreignKeysSql,
  indexesSql,
  missingGrantsSql,
  openSchemasSql,
  policiesSql,
  relationsSql,
  rolesSql,
  routinesSql,
  serverSql,
} from './facts.sql.ts';
import { servedObjects } from './served.ts';

/** What a caller of `readFacts` knows of the calls. */
export interface Calls {
  readonly endpoints: readonly ServedEndpoint[];
  /** The names of the roles of calls; empty: the user of the connection. */
  readonly roles: readonly string[];
}

/** Reads the catalog in the transaction of the client, with an empty search path. */
export async function readFacts(
  client: Client,
  { endpoints, roles }: Calls,
  progress: Progress,
): Promise<CatalogFacts> {
  progress.show('reading the catalog');
  const rows = async <Row extends object>(sql: string, values: readonly unknown[] = []): Promise<Row[]> =>
    (await client.query<Row>(sql, [...values])).rows;
  const [server] = await rows<Server>(serverSql);
  const { version, user } = server!;
  const relations = new Map((await rows<Relation>(relationsSql)).map((relation) => [relation.oid, relation]));
  const routines = await rows<Routine>(routinesSql(version >= 140_000));
  const found = await rows<Role>(rolesSql, [roles.length === 0 ? [user] : roles]);
  const served = servedObjects(endpoints, relations, routines);
  const facts = {
    server: server!,
    relations,
    routines,
    policies: await rows<Policy>(policiesSql),
    indexes: await rows<Index>(indexesSql),
    foreignKeys: await rows<ForeignKey>(foreignKeysSql),
    openSchemas: await rows<Pick<Named, 'name' | 'sqlName'>>(openSchemasSql),
    roles: new Map(found.map((role) => [role.oid, role])),
    served,
  };
  const callers = limitedRoles(facts).map(({ name }) => name);
  return { ...facts, missingGrants: await readMissingGrants(client, served, callers) };
}

/** Superusers have all privileges. */
async function readMissingGrants(
  client: Client,
  served: Served,
  roles: readonly string[],
): Promise<readonly MissingGrant[]> {
  if (roles.length === 0) return [];
  const uses = [...served.relations].flatMap(([oid, { commands }]) => [...commands].map((command) => [oid, command]));
  const { rows } = await client.query<MissingGrant>(missingGrantsSql, [
    [...served.routines.keys()],
    uses.map(([oid]) => oid),
    uses.map(([, command]) => command),
    roles,
  ]);
  return rows;
}
