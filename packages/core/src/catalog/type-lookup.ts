import {
  toJsonObject,
  decodeText,
  readBoolean,
  type JsonObject,
  readCode,
  readArrayOrNull,
  malformedRow,
  readText,
  readTextOrNull,
  readInteger,
  readIntegerOrNull,
} from './json-object.ts';
import { quoteIdentifier } from './quote.ts';
import type { Column, JsonForm, TypeFacts } from './type-facts.ts';

/** A row of the catalog query for types; it refers to other types by OID. */
export interface TypeRow {
  readonly path: string;
  readonly oid: number;
  readonly schema: string;
  readonly name: string;
  readonly display: string;
  readonly kind: TypeFacts['kind'] | 'domain';
  readonly category: string;
  readonly base: number | null;
  readonly delimiter: string | null;
  readonly element: number | null;
  readonly fields: readonly FieldRow[] | null;
  readonly labels: readonly string[] | null;
  readonly castToJson: boolean;
  readonly isRequest: boolean;
}

interface FieldRow {
  readonly name: string;
  readonly type: number;
  readonly display: string | null;
}

/**
 * Returns a type by its OID.
 * @throws MalformedRow for an unknown OID; `path` names the reference
 */
export type TypeLookup = (oid: number, path: string) => TypeFacts;

const kinds = {
  b: 'base',
  c: 'composite',
  d: 'domain',
  e: 'enum',
  m: 'range',
  p: 'pseudo',
  r: 'range',
} as const;

/** The JSON form of built-in types; the others are strings, unless their structure implies another form. */
const builtinJsonForms: ReadonlyMap<string, JsonForm> = new Map([
  ['int2', 'number'],
  ['int4', 'number'],
  ['int8', 'number'],
  ['float4', 'number'],
  ['float8', 'number'],
  ['numeric', 'number'],
  ['bool', 'boolean'],
  ['timestamp', 'timestamp'],
  ['timestamptz', 'timestamptz'],
  ['json', 'json'],
  ['jsonb', 'json'],
  ['record', 'converted'],
  ['anyarray', 'converted'],
]);

const builtinTextTypes: ReadonlySet<string> = new Set(['text', 'varchar', 'bpchar', 'name']);

/** FirstNormalObjectId of PostgreSQL: built-in objects have lower OIDs. */
const firstUserOid = 16384;

export function decodeTypeRow(object: JsonObject): TypeRow {
  return {
    path: object.path,
    oid: readInteger(object, 'oid'),
    schema: readText(object, 'schema'),
    name: readText(object, 'name'),
    display: readText(object, 'display'),
    kind: readCode(object, 'kind', kinds),
    category: readText(object, 'category'),
    base: readIntegerOrNull(object, 'base'),
    delimiter: readTextOrNull(object, 'delimiter'),
    element: readIntegerOrNull(object, 'element'),
    fields: readArrayOrNull(object, 'fields', decodeFieldRow),
    labels: readArrayOrNull(object, 'labels', decodeText),
    castToJson: readBoolean(object, 'castToJson'),
    isRequest: object.members['isRequest'] === true,
  };
}

function decodeFieldRow(path: string, value: unknown): FieldRow {
  const object = toJsonObject(path, value);
  return {
    name: readText(object, 'name'),
    type: readInteger(object, 'type'),
    display: readTextOrNull(object, 'display'),
  };
}

/** Resolves the references between rows. Each type is created once, frozen, and shared. */
export function createTypeLookup(rows: readonly TypeRow[]): TypeLookup {
  const byOid = new Map(rows.map((row) => [row.oid, row]));
  const types = new Map<number, TypeFacts>();
  const inProgress = new Set<number>();
  const lookup: TypeLookup = (oid, path) => {
    const existing = types.get(oid);
    if (existing) return existing;
    const row = byOid.get(oid);
    if (!row) throw malformedRow(path, `is type ${oid}, which has no row`);
    if (inProgress.has(oid)) throw malformedRow(row.path, `describes type ${row.display}, which contains itself`);
    inProgress.add(oid);
    const facts = makeType(row, lookup);
    inProgress.delete(oid);
    types.set(oid, facts);
    return facts;
  };
  return lookup;
}

function makeType(row: TypeRow, lookup: TypeLookup): TypeFacts {
  const sql = `${quoteIdentifier(row.schema)}.${quoteIdentifier(row.name)}`;
  const names = { sql, display: row.display, oid: row.oid };
  if (row.kind === 'domain') {
    if (row.base === null) throw malformedRow(`${row.path}.base`, 'must be the type under the domain; it is null');
    const base = lookup(row.base, `${row.path}.base`);
    const rowType = base.kind === 'composite' ? { rowType: base.rowType ?? base.sql } : {};
    return Object.freeze({ ...base, ...names, ...rowType });
  }
  const builtin = row.schema === 'pg_catalog' && row.oid < firstUserOid ? row.name : null;
  return Object.freeze({
    ...names,
    baseOid: row.oid,
    kind: row.kind,
    json: jsonForm(row, builtin),
    textual: builtin === null ? row.category === 'S' : builtinTextTypes.has(builtin),
    builtin,
    ...textFormat(row),
    ...(row.element !== null && { element: lookup(row.element, `${row.path}.element`) }),
    ...(row.fields && { fields: makeFields(row, row.fields, lookup) }),
    ...(row.labels && { labels: row.labels }),
    ...(row.isRequest && { isRequest: true }),
  });
}

function textFormat({ name, kind, castToJson, delimiter }: TypeRow): Pick<TypeFacts, 'delimiter' | 'jsonInput'> {
  return {
    ...(delimiter !== null && { delimiter }),
    ...(castToJson && kind === 'base' && { jsonInput: name === 'hstore' ? 'hstore' : 'json' }),
  };
}

function makeFields(row: TypeRow, fields: readonly FieldRow[], lookup: TypeLookup): readonly Column[] {
  const columns = fields.map(({ name, type, display }, index) => {
    const facts = lookup(type, `${row.path}.fields[${index}].type`);
    return Object.freeze({ name, type: display === null ? facts : Object.freeze({ ...facts, display }) });
  });
  return Object.freeze(columns);
}

/** Follows the order of the rules of `to_json`: known types, arrays, composites, a cast to json, else a string. */
function jsonForm(row: TypeRow, builtin: string | null): JsonForm {
  const existing = builtin === null ? undefined : builtinJsonForms.get(builtin);
  if (existing) return existing;
  if (row.element !== null || row.kind === 'composite' || row.castToJson) return 'converted';
  return 'string';
}
