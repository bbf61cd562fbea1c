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

/** A type as the catalog query lists it: its own facts, with references to others by OID. */
export interface TypeRow {
  readonly where: string;
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
}

interface FieldRow {
  readonly name: string;
  readonly type: number;
  readonly display: string | null;
}

/** Gives the facts of a type by its OID; `where` names who refers to it, for the error when there is no row for it. */
export type TypeLookup = (oid: number, where: string) => TypeFacts;

const kinds = {
  b: 'base',
  c: 'composite',
  d: 'domain',
  e: 'enum',
  m: 'range',
  p: 'pseudo',
  r: 'range',
} as const;

/** The JSON form of PostgreSQL's own types; those that are not here are strings unless their structure says otherwise. */
const builtinForms: ReadonlyMap<string, JsonForm> = new Map([
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

const builtinTexts: ReadonlySet<string> = new Set(['text', 'varchar', 'bpchar', 'name']);

/** What PostgreSQL assigns before the first object of a user. */
const firstUserOid = 16384;

export function decodeTypeRow(facts: JsonObject): TypeRow {
  return {
    where: facts.path,
    oid: readInteger(facts, 'oid'),
    schema: readText(facts, 'schema'),
    name: readText(facts, 'name'),
    display: readText(facts, 'display'),
    kind: readCode(facts, 'kind', kinds),
    category: readText(facts, 'category'),
    base: readIntegerOrNull(facts, 'base'),
    delimiter: readTextOrNull(facts, 'delimiter'),
    element: readIntegerOrNull(facts, 'element'),
    fields: readArrayOrNull(facts, 'fields', decodeFieldRow),
    labels: readArrayOrNull(facts, 'labels', decodeText),
    castToJson: readBoolean(facts, 'castToJson'),
  };
}

function decodeFieldRow(where: string, value: unknown): FieldRow {
  const facts = toJsonObject(where, value);
  return { name: readText(facts, 'name'), type: readInteger(facts, 'type'), display: readTextOrNull(facts, 'display') };
}

/** Joins rows to frozen facts; each type is made once and shared by all who refer to it. */
export function createTypeLookup(rows: readonly TypeRow[]): TypeLookup {
  const byOid = new Map(rows.map((row) => [row.oid, row]));
  const made = new Map<number, TypeFacts>();
  const inProgress = new Set<number>();
  const lookup: TypeLookup = (oid, where) => {
    const known = made.get(oid);
    if (known) return known;
    const row = byOid.get(oid);
    if (!row) throw malformedRow(where, `is type ${oid}, which has no row`);
    if (inProgress.has(oid)) throw malformedRow(row.where, `describes type ${row.display}, which contains itself`);
    inProgress.add(oid);
    const facts = makeType(row, lookup);
    inProgress.delete(oid);
    made.set(oid, facts);
    return facts;
  };
  return lookup;
}

function makeType(row: TypeRow, lookup: TypeLookup): TypeFacts {
  const sql = `${quoteIdentifier(row.schema)}.${quoteIdentifier(row.name)}`;
  const own = { sql, display: row.display, oid: row.oid };
  if (row.kind === 'domain') {
    if (row.base === null) throw malformedRow(`${row.where}.base`, 'must be the type under the domain; it is null');
    return Object.freeze({ ...lookup(row.base, `${row.where}.base`), ...own });
  }
  const builtin = row.schema === 'pg_catalog' && row.oid < firstUserOid ? row.name : null;
  return Object.freeze({
    ...own,
    baseOid: row.oid,
    kind: row.kind,
    json: jsonForm(row, builtin),
    textual: builtin === null ? row.category === 'S' : builtinTexts.has(builtin),
    builtin,
    ...textForms(row),
    ...(row.element !== null && { element: lookup(row.element, `${row.where}.element`) }),
    ...(row.fields && { fields: makeFields(row, row.fields, lookup) }),
    ...(row.labels && { labels: row.labels }),
  });
}

/** What the text of its values needs, where that is not the usual. */
function textForms({ name, kind, castToJson, delimiter }: TypeRow): Pick<TypeFacts, 'delimiter' | 'jsonInput'> {
  return {
    ...(delimiter !== null && { delimiter }),
    ...(castToJson && kind === 'base' && { jsonInput: name === 'hstore' ? 'hstore' : 'json' }),
  };
}

function makeFields(row: TypeRow, fields: readonly FieldRow[], lookup: TypeLookup): readonly Column[] {
  const columns = fields.map(({ name, type, display }, index) => {
    const facts = lookup(type, `${row.where}.fields[${index}].type`);
    return Object.freeze({ name, type: display === null ? facts : Object.freeze({ ...facts, display }) });
  });
  return Object.freeze(columns);
}

/** The same questions in the same order as `to_json` asks: known types, arrays, composites, a cast to json, else a string. */
function jsonForm(row: TypeRow, builtin: string | null): JsonForm {
  const known = builtin === null ? undefined : builtinForms.get(builtin);
  if (known) return known;
  if (row.element !== null || row.kind === 'composite' || row.castToJson) return 'converted';
  return 'string';
}
