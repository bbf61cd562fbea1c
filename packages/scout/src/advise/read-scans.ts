/** Sequential scans of large tables in the generic plans of served SQL functions. Nothing is executed. */
import type { Client } from 'pg';
import type { Progress } from '../output/progress.ts';
import { splitStatements } from '../schema-files/split-statements.ts';
import type { CatalogFacts, Relation, Routine, Scan } from './facts.ts';
import { numberParameters } from './function-body.ts';
import { filterColumns } from './expression.ts';

export interface Scans {
  readonly scans: readonly Scan[];
  readonly notes: readonly string[];
}

/** Rows of a table that is large. */
export const largeTable = 10_000;
/** The part of the rows that an index would have to leave out: a scan is the better plan for more. */
const maxPart = 0.1;

/** A node of EXPLAIN (FORMAT JSON). */
interface PlanNode {
  readonly 'Node Type': string;
  readonly Schema?: string;
  readonly 'Relation Name'?: string;
  readonly Filter?: string;
  readonly 'Plan Rows': number;
  readonly Plans?: readonly PlanNode[];
}

/** Plans the statements of served SQL functions whose database has large tables. */
export async function readScans(client: Client, facts: CatalogFacts, progress: Progress): Promise<Scans> {
  const routines = facts.routines.filter(({ oid, language }) => language === 'sql' && facts.served.routines.has(oid));
  const hasLargeTable = [...facts.relations.values()].some(({ rows }) => rows >= largeTable);
  if (routines.length === 0 || !hasLargeTable) return { scans: [], notes: [] };
  const foreign = foreignOwner(facts);
  if (foreign !== null) {
    const text = `statements are not planned: functions and views of ${foreign} could run with the rights of ${facts.server.user}; connect as ${foreign}`;
    return { scans: [], notes: [text] };
  }
  const scans: Scan[] = [];
  const failed: string[] = [];
  await client.query(`set local row_security = on; set local plan_cache_mode = force_generic_plan`);
  for (const routine of routines) {
    progress.show(`planning ${routine.sqlName}`);
    const found = await scansOf(client, facts, routine);
    if (found === null) failed.push(`${routine.sqlName}${routine.signature}`);
    else scans.push(...found);
  }
  const notes =
    failed.length === 0 ? [] : [`statements that cannot be planned alone are not examined: ${failed.join(', ')}`];
  return { scans, notes };
}

/**
 * Returns an owner of routines or relations who could gain the rights of the user while a statement is planned; null: there is none. The
 * planner calls functions that are not volatile, and some of PostgreSQL run others, as `table_to_xml` does with those of a view.
 */
function foreignOwner({ routines, relations, roles, server }: CatalogFacts): string | null {
  const superusers = [...roles.values()].filter(({ isSuperuser }) => isSuperuser).map(({ name }) => name);
  const trusted = new Set([...superusers, server.user]);
  const found = [...routines, ...relations.values()].find(({ ownerName }) => !trusted.has(ownerName));
  return found?.ownerName ?? null;
}

/** Returns null when a statement cannot be planned, as for a body whose text depends on a table that it creates. */
async function scansOf(client: Client, facts: CatalogFacts, routine: Routine): Promise<readonly Scan[] | null> {
  const body = routine.body.replace(/^\s*BEGIN ATOMIC\b([^]*)\bEND\s*$/i, '$1').replace(/^\s*RETURN\b/i, 'SELECT');
  const columns = new Set(
    [...facts.relations.values()].flatMap((relation) => relation.columns.map(({ name }) => name)),
  );
  await client.query('savepoint advise');
  try {
    await client.query('set local search_path to default');
    if (routine.searchPath !== null)
      await client.query(`select pg_catalog.set_config('search_path', $1, true)`, [routine.searchPath]);
    const types = await parameterTypes(client, routine);
    const found: Scan[] = [];
    for (const { sql } of splitStatements(numberParameters(body, routine, columns))) {
      const plan = (): Promise<readonly Scan[]> =>
        explain(client, sql, types).then((node) => scansIn(node, facts, routine));
      for (const scan of await plan()) found.push(await tried(client, facts, scan, plan));
    }
    return found;
  } catch (error) {
    if (!(error instanceof Error) || !('severity' in error)) throw error;
    return null;
  } finally {
    await client.query(`rollback to savepoint advise; ${deallocate}`);
  }
}

/** Returns the types of the parameters, as in SQL with the search path of the body. */
async function parameterTypes(client: Client, { argumentTypes }: Routine): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select pg_catalog.format_type(t, null) as name from unnest($1::oid[]) with ordinality u (t, place) order by place`,
    [argumentTypes],
  );
  return rows.map(({ name }) => name);
}

/** A prepared statement has a generic plan in all versions. */
async function explain(client: Client, sql: string, types: readonly string[]): Promise<PlanNode> {
  const list = (texts: readonly string[]): string => (texts.length === 0 ? '' : ` (${texts.join(', ')})`);
  // The extended protocol refuses a second statement, whatever the text of the body contains. The types of `pg` lack the mode.
  const prepare = { text: `prepare pgscout_advise${list(types)} as ${sql}`, queryMode: 'extended' };
  await client.query(prepare);
  const values = list(types.map(() => 'null'));
  const { rows } = await client.query<{ 'QUERY PLAN': readonly [{ readonly Plan: PlanNode }] }>(
    `explain (format json, verbose) execute pgscout_advise${values}`,
  );
  await client.query(deallocate);
  return rows[0]!['QUERY PLAN'][0].Plan;
}

/** The end of the transaction does not remove prepared statements. */
const deallocate = 'deallocate all';

/** Plans the statement with the proposed index as a hypothetical one of hypopg. Without it, the proposal remains. */
async function tried(
  client: Client,
  { server: { hypopgSchema }, relations }: CatalogFacts,
  scan: Scan,
  plan: () => Promise<readonly Scan[]>,
): Promise<Scan> {
  if (hypopgSchema === null || scan.columns.length === 0) return scan;
  const { sqlName } = relations.get(scan.relation)!;
  const index = `CREATE INDEX ON ${sqlName} (${scan.columns.join(', ')})`;
  await client.query(`select ${hypopgSchema}.hypopg_create_index($1)`, [index]);
  const remaining = await plan();
  await client.query(`select ${hypopgSchema}.hypopg_reset()`);
  const isUsed = !remaining.some(({ relation, filter }) => relation === scan.relation && filter === scan.filter);
  return isUsed ? scan : { ...scan, columns: [] };
}

function scansIn(plan: PlanNode, facts: CatalogFacts, routine: Routine): readonly Scan[] {
  const relation = plan['Node Type'] === 'Seq Scan' ? findRelation(facts, plan) : undefined;
  const isFound =
    relation !== undefined &&
    plan.Filter !== undefined &&
    relation.rows >= largeTable &&
    plan['Plan Rows'] <= relation.rows * maxPart;
  const own = isFound ? [scanOf(routine, relation, plan.Filter!)] : [];
  return [...own, ...(plan.Plans ?? []).flatMap((child) => scansIn(child, facts, routine))];
}

function findRelation({ relations }: CatalogFacts, plan: PlanNode): Relation | undefined {
  return [...relations.values()].find(({ schema, name }) => schema === plan.Schema && name === plan['Relation Name']);
}

/** Proposes an index of the columns that are compared for equality, and one that is compared otherwise. */
function scanOf(routine: Routine, { oid, columns }: Relation, filter: string): Scan {
  const { equal, ordered } = filterColumns(filter);
  const named = (names: readonly string[]): readonly string[] =>
    columns.flatMap(({ sqlName }) => (names.includes(sqlName) ? [sqlName] : []));
  const first = named(equal);
  const last = named(ordered).filter((name) => !first.includes(name));
  return { routine: routine.oid, relation: oid, filter, columns: [...first, ...last.slice(0, 1)] };
}
