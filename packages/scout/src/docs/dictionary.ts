/** The dictionary of a database as data: schemas, with their tables, views, types and routines, and the comments of all of them. */
import type { Client } from 'pg';
import { groupBy } from '@pgway/core/internal';
import { type DatabaseObject, objectLine } from '../catalog/objects.ts';
import { type CatalogSource, openCatalogSource } from '../ddl/catalog-source.ts';
import {
  attributesSql,
  columnsSql,
  constraintsSql,
  detailsSql,
  relationsSql,
  routinesSql,
  schemasSql,
  typesSql,
} from './dictionary.sql.ts';

/** An object that can have a comment. */
export interface Commented {
  /** Kind and qualified name, such as `COLUMN shop.film.title`. */
  readonly id: string;
  /** The object as in `COMMENT ON`. */
  readonly target: string;
  readonly comment: string | null;
}

/** An object of the list of objects. */
interface Entry extends Commented {
  readonly object: DatabaseObject;
}

export interface Column extends Commented {
  /** As in SQL. */
  readonly name: string;
  /** Without quotes. */
  readonly plainName: string;
  readonly type: string;
  readonly isNotNull: boolean;
  /** The kind of identity, or the expression of a default or of a generated column. */
  readonly value: { readonly kind: 'identity' | 'default' | 'generated'; readonly text: string } | null;
}

export interface Constraint {
  readonly name: string;
  /** Primary key, unique, foreign key, exclusion, check. */
  readonly type: 'p' | 'u' | 'f' | 'x' | 'c';
  readonly definition: string;
  readonly columns: readonly string[];
  /** The table of a foreign key. */
  readonly references: {
    readonly qualifiedName: string;
    readonly schema: string;
    readonly name: string;
  } | null;
}

/** An index without a constraint, a trigger or a policy. */
export interface Detail {
  readonly kind: 'index' | 'trigger' | 'policy';
  readonly name: string;
  readonly definition: string;
}

/** A table, foreign table, view or materialized view. */
export interface Relation extends Entry {
  readonly columns: readonly Column[];
  readonly constraints: readonly Constraint[];
  /** Sorted by kind and name. */
  readonly details: readonly Detail[];
  readonly partitionOf: string | null;
  /** The values of a partition, such as `FOR VALUES FROM (1) TO (9)`. */
  readonly partitionBound: string | null;
  /** How the table is divided, such as `RANGE (day)`. */
  readonly partitionKey: string | null;
}

export interface TypeEntry extends Entry {
  /** The labels of an enum. */
  readonly labels: readonly string[];
  /** The attributes of a composite type. */
  readonly attributes: readonly Column[];
  /** The values that a range or domain is made of. */
  readonly baseType: string | null;
  /** The conditions of a domain, such as `NOT NULL`. */
  readonly conditions: readonly string[];
}

export interface Routine extends Entry {
  readonly arguments: string;
  /** Null for a procedure. */
  readonly result: string | null;
  /** The signature by which the gateway names a routine, without double quotes. */
  readonly gatewayName: string;
}

export interface SchemaEntry {
  readonly name: string;
  /** Null when the schema itself is not selected. */
  readonly schema: Entry | null;
  readonly relations: readonly Relation[];
  readonly types: readonly TypeEntry[];
  readonly routines: readonly Routine[];
}

interface Row {
  readonly oid: string;
  readonly comment: string | null;
}

type RelationRow = Row & Pick<Relation, 'partitionOf' | 'partitionBound' | 'partitionKey'>;

interface DetailRow extends Detail {
  readonly relation: string;
}

interface RoutineRow extends Row, Pick<Routine, 'arguments' | 'result' | 'gatewayName'> {
  readonly signature: string;
}

interface ColumnRow extends Pick<Column, 'name' | 'plainName' | 'type' | 'isNotNull' | 'comment'> {
  readonly relation: string;
  readonly identity: string | null;
  readonly isGenerated: boolean;
  readonly expression: string | null;
}

interface ConstraintRow extends Omit<Constraint, 'references'> {
  readonly relation: string;
  readonly referencedName: string | null;
  readonly referencedSchema: string;
  readonly referencedTable: string;
}

interface TypeRow extends Row {
  readonly relation: string;
  readonly isNotNull: boolean;
  readonly defaultText: string | null;
  readonly baseType: string | null;
  readonly labels: readonly string[];
  readonly checks: readonly string[];
}

/** Reads the selected objects, in their order. Objects of other kinds are left out. */
export async function readDictionary(
  client: Client,
  objects: readonly DatabaseObject[],
): Promise<readonly SchemaEntry[]> {
  const source = await openCatalogSource(client, objects);
  const schemas = await readEntries(source, objects, {
    catalog: 'pg_namespace',
    sql: schemasSql,
    create: (_: Row, entry) => entry,
  });
  const groups = {
    relations: bySchema(await readRelations(source, objects)),
    types: bySchema(await readTypes(source, objects)),
    routines: bySchema(await readRoutines(source, objects)),
  };
  const schemasByName = new Map(schemas.map((schema) => [schema.object.name, schema]));
  const names = [schemasByName, ...Object.values(groups)].flatMap((group) => [...group.keys()]);
  return [...new Set(names)].toSorted(compareNames).map((name) => ({
    name,
    schema: schemasByName.get(name) ?? null,
    relations: groups.relations.get(name) ?? [],
    types: groups.types.get(name) ?? [],
    routines: groups.routines.get(name) ?? [],
  }));
}

/** Reads the rows of one catalog, and returns an entry for each row, in the order of the objects. */
async function readEntries<CatalogRow extends Row, Result>(
  source: CatalogSource,
  objects: readonly DatabaseObject[],
  { catalog, sql, create }: EntryQuery<CatalogRow, Result>,
): Promise<readonly Result[]> {
  const rows = await source.read<CatalogRow>(catalog, sql);
  const byKey = new Map(rows.map((row) => [`${catalog}/${row.oid}`, row]));
  return objects.flatMap((object) => {
    const row = byKey.get(object.key);
    const line = objectLine(object);
    return row === undefined ? [] : [create(row, { object, id: line, target: line, comment: row.comment })];
  });
}

interface EntryQuery<CatalogRow, Result> {
  readonly catalog: string;
  readonly sql: string;
  readonly create: (row: CatalogRow, entry: Entry) => Result;
}

async function readRelations(source: CatalogSource, objects: readonly DatabaseObject[]): Promise<readonly Relation[]> {
  const columns = groupBy(await source.read<ColumnRow>('pg_class', columnsSql), ({ relation }) => relation);
  const constraints = groupBy(await source.read<ConstraintRow>('pg_class', constraintsSql), ({ relation }) => relation);
  const details = groupBy(await source.read<DetailRow>('pg_class', detailsSql), ({ relation }) => relation);
  return readEntries(source, objects, {
    catalog: 'pg_class',
    sql: relationsSql,
    create: ({ oid, partitionOf, partitionBound, partitionKey }: RelationRow, entry) => ({
      ...entry,
      partitionOf,
      partitionBound,
      partitionKey,
      details: (details.get(oid) ?? []).map(({ kind, name, definition }) => ({ kind, name, definition })),
      columns: (columns.get(oid) ?? []).map((row) => toColumn(row, entry.object)),
      constraints: (constraints.get(oid) ?? []).map(toConstraint),
    }),
  });
}

function toColumn(row: ColumnRow, { qualifiedName }: DatabaseObject): Column {
  const { name, plainName, type, isNotNull, comment } = row;
  const id = `COLUMN ${qualifiedName}.${name}`;
  return { id, target: id, name, plainName, type, isNotNull, value: columnValue(row), comment };
}

function columnValue({ identity, isGenerated, expression }: ColumnRow): Column['value'] {
  if (identity !== null) return { kind: 'identity', text: identity };
  return expression === null ? null : { kind: isGenerated ? 'generated' : 'default', text: expression };
}

function toConstraint(row: ConstraintRow): Constraint {
  const { name, type, definition, columns, referencedName, referencedSchema, referencedTable } = row;
  const references =
    referencedName === null
      ? null
      : {
          qualifiedName: referencedName,
          schema: referencedSchema,
          name: referencedTable,
        };
  return { name, type, definition, columns, references };
}

async function readTypes(source: CatalogSource, objects: readonly DatabaseObject[]): Promise<readonly TypeEntry[]> {
  const attributes = groupBy(await source.read<ColumnRow>('pg_type', attributesSql), ({ relation }) => relation);
  return readEntries(source, objects, {
    catalog: 'pg_type',
    sql: typesSql,
    create: ({ relation, labels, baseType, isNotNull, defaultText, checks }: TypeRow, entry) => ({
      ...entry,
      labels,
      baseType,
      attributes: (attributes.get(relation) ?? []).map((row) => toColumn(row, entry.object)),
      conditions: [
        ...(isNotNull ? ['NOT NULL'] : []),
        ...(defaultText === null ? [] : [`DEFAULT ${defaultText}`]),
        ...checks,
      ],
    }),
  });
}

/** In `COMMENT ON`, a routine has the arguments that identify it, such as those of an ordered-set aggregate. */
function readRoutines(source: CatalogSource, objects: readonly DatabaseObject[]): Promise<readonly Routine[]> {
  return readEntries(source, objects, {
    catalog: 'pg_proc',
    sql: routinesSql,
    create: ({ signature, result, gatewayName, ...row }: RoutineRow, entry) => ({
      ...entry,
      target: `${entry.object.kind} ${signature}`,
      arguments: row.arguments,
      result,
      gatewayName,
    }),
  });
}

function bySchema<Item extends Entry>(entries: readonly Item[]): ReadonlyMap<string, readonly Item[]> {
  return groupBy(entries, ({ object }) => object.schema!);
}

/** Lists all objects with comments: schemas, relations, types, routines and columns. */
export function commentedObjects(dictionary: readonly SchemaEntry[]): readonly Commented[] {
  return dictionary.flatMap(({ schema, relations, types, routines }) => [
    ...(schema === null ? [] : [schema]),
    ...relations.flatMap((relation) => [relation, ...relation.columns]),
    ...types.flatMap((type) => [type, ...type.attributes]),
    ...routines,
  ]);
}

/** By code points, as PostgreSQL sorts with the collation `C`. */
function compareNames(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}
