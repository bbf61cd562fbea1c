/** The schema of `--connection` with the names of `--rename`, which PostgreSQL itself gives to a copy in a scratch database. */
import type { Client } from 'pg';
import type { CommandContext } from '../command/command-context.ts';
import { objectLine } from '../catalog/objects.ts';
import { orderItems } from '../ddl/order.ts';
import { attributeStatements } from '../ddl/read-definitions.ts';
import { quoteLiteral, visibleSql } from '../ddl/sql-text.ts';
import { CommandError } from '../process/errors.ts';
import type { SchemaFiles } from '../schema-files/read-schema-files.ts';
import type { ScratchServer } from '../schema-files/scratch-server.ts';
import { withLoadedFiles } from '../schema-files/with-loaded-files.ts';
import type { Change } from './change.ts';
import { planChanges } from './plan.ts';
import { readSchema, type Schema } from './read-schema.ts';
import { findRenames, readRenamables, type Renamable, type Rename, renameStatements } from './renames.ts';

export interface RenamedSchema {
  readonly schema: Schema;
  readonly renames: readonly Change[];
}

interface Original {
  readonly schema: Schema;
  /** Null for a database. */
  readonly files: SchemaFiles | null;
}

/** @throws CommandError for wrong names, and for a database of which the scratch server cannot have a copy */
export function renameSchema(
  text: string,
  { schema, files }: Original,
  {
    server,
    wanted,
    context,
  }: { readonly server: ScratchServer; readonly wanted: Schema; readonly context: CommandContext },
): Promise<RenamedSchema> {
  const renames = findRenames(text, schema, wanted);
  context.progress.show('renaming');
  return withLoadedFiles(server, files ?? copyOf(schema), context, async (client) => {
    const read = (): Promise<Schema> => readSchema(client, context.progress);
    if (files === null) {
      await setCounters(client, schema);
      checkCopy(schema, await read());
    }
    await client.query(`set check_function_bodies = off; set search_path = ''`);
    for (const sql of renames.flatMap(renameStatements)) await runRename(client, sql);
    const followers = findFollowers(renames, await read(), wanted);
    for (const sql of followers.flatMap(renameStatements)) await runRename(client, sql);
    const { version, publicOwner, roles, omissions, availableExtensions } = schema;
    return {
      schema: { ...(await read()), version, publicOwner, roles, omissions, availableExtensions },
      renames: [...renames, ...followers].map((rename) => changeOf(rename, renames)),
    };
  });
}

async function runRename(client: Client, sql: string): Promise<void> {
  await client.query(sql).catch((error: Error) => {
    throw new CommandError(`--rename: ${sql}: ${error.message}`);
  });
}

/** What follows a table belongs to the object with its former name. */
function changeOf(rename: Rename, renames: readonly Rename[]): Change {
  const statements = renameStatements(rename).map((sql) => ({ sql, notes: [] }));
  const own = rename.before.object;
  const former = renames.find(({ after }) => after.object.qualifiedName === own.qualifiedName);
  return { object: former?.before.object ?? own, action: 'rename', statements, isTransactional: true };
}

/** Returns a script of the schema. */
function copyOf(schema: Schema): SchemaFiles {
  const options = { hasOwners: true, hasGrants: true };
  const statements = orderItems(schema.items, schema.dependencies).flatMap(({ statements: own, item, isComplete }) => [
    ...own,
    ...(isComplete ? attributeStatements(item, schema, options) : []),
  ]);
  const settings = `set check_function_bodies = off; set client_min_messages = error; set search_path = '';\n`;
  const content = `${settings}${statements.map((sql) => `${visibleSql(sql)};\n`).join('')}`;
  return { title: 'copy', isTree: false, files: [{ name: '--rename: the copy of the database', content }] };
}

async function setCounters(client: Client, { items, lastValues }: Schema): Promise<void> {
  const names = items.flatMap(({ key, structure }) => {
    if (structure?.kind === 'sequence') return [[key, structure.sequence.name] as const];
    if (structure?.kind !== 'table') return [];
    return structure.table.identities.map(({ oid, name }) => [`pg_class/${oid}`, name] as const);
  });
  for (const [key, name] of names) {
    const value = lastValues.get(key);
    if (value !== undefined) await client.query(`select pg_catalog.setval(${quoteLiteral(name)}, ${value})`);
  }
}

/** @throws CommandError when the copy is not equal, as with another version of PostgreSQL */
function checkCopy(schema: Schema, copy: Schema): void {
  const remedy = 'name a server with the same version and extensions with --scratch';
  if (copy.version !== schema.version) {
    throw new CommandError(
      `--rename: the names are changed in a copy of the database, on a server with PostgreSQL ${copy.version}; the database has ${schema.version}: ${remedy}`,
    );
  }
  const options = { hasOwners: true, hasGrants: true };
  const { changes } = planChanges({ current: schema, wanted: copy, options, isSelected: () => true, hasDrops: true });
  if (changes.length === 0) return;
  const lines = [...new Set(changes.map(({ object }) => objectLine(object)))];
  throw new CommandError(
    `--rename: the names are changed in a copy of the database, which differs on the scratch server in ${lines.slice(0, 5).join(', ')}; ${remedy}`,
  );
}

/** The constraints, indexes and sequences of a renamed table or column that are equal except for their names. */
function findFollowers(renames: readonly Rename[], renamed: Schema, wanted: Schema): readonly Rename[] {
  const tables = new Set(renames.map(({ after }) => after.object.qualifiedName));
  const [old, all] = [renamed, wanted].map((schema) =>
    readRenamables(schema).filter(({ follows }) => follows !== null && tables.has(follows.table)),
  ) as [Renamable[], Renamable[]];
  const without = (list: readonly Renamable[], others: readonly Renamable[]): readonly Renamable[] =>
    list.filter((part) => !others.some((other) => objectLine(other) === objectLine(part)));
  const added = new Set(without(all, old));
  return without(old, all).flatMap((before) => {
    const { table, definition } = before.follows!;
    const after = [...added].find(({ follows }) => follows!.table === table && follows!.definition === definition);
    if (after === undefined) return [];
    added.delete(after);
    return [{ before, after, movesTo: null }];
  });
}
