import {
  toJsonObject,
  type JsonObject,
  readBoolean,
  readCode,
  readArray,
  readArrayOrNull,
  malformedRow,
  readText,
  readTextOrNull,
  readInteger,
  readIntegerOrNull,
} from '../catalog/json-object.ts';
import { parseConstraintComment } from '../catalog/constraint-comment.ts';
import { quoteIdentifier } from '../catalog/quote.ts';
import type { TypeFacts } from '../catalog/type-facts.ts';
import type { ChangeSource, Comparison, RelationKind, TableColumn, TypeOperators } from '../catalog/table.ts';
import type { TypeLookup } from '../catalog/type-lookup.ts';

/** A table or view of the catalog. */
export interface Table {
  readonly kind: RelationKind;
  readonly schema: string;
  readonly name: string;
  readonly comment: string | null;
  readonly insertable: boolean;
  readonly updatable: boolean;
  readonly deletable: boolean;
  /** Whether the primary key can be the target of ON CONFLICT. */
  readonly arbiter: boolean;
  /** The changes that return each row that they find: without a row, none has the key. */
  readonly counted: { readonly update: boolean; readonly delete: boolean };
  readonly columns: readonly TableColumn[];
  readonly constraintMessages: Readonly<Record<string, string>>;
  /** The tables whose changes concern its rows; null: the comment does not ask for them. */
  readonly changeSources: readonly ChangeSource[] | null;
}

/** OIDs of the types with a default operator class: B-tree for `ordered`, hash for `equal`. */
export interface ComparableTypes {
  readonly ordered: ReadonlySet<number>;
  readonly equal: ReadonlySet<number>;
}

const kinds = {
  r: 'table',
  p: 'partitioned table',
  f: 'foreign table',
  v: 'view',
  m: 'materialized view',
} as const;

const replicaIdentities = { d: 'default', n: 'nothing', f: 'full', i: 'index' } as const;

const identities = { '': null, a: 'always', d: 'byDefault' } as const;

/** Bits of `pg_relation_is_updatable`: `1 << CmdType`. */
const commandBits = { update: 4, insert: 8, delete: 16 } as const;

export interface DecodeContext {
  readonly findType: TypeLookup;
  readonly comparable: ComparableTypes;
  /** By the OID of the column type. */
  readonly operators: ReadonlyMap<number, TypeOperators>;
  /** Whether columns keep the SQL of their defaults. Default false. */
  readonly keepsDefaults?: boolean;
}

export function decodeTable(facts: JsonObject, context: DecodeContext): Table {
  const writable = readInteger(facts, 'writable');
  const counted = readIntegerOrNull(facts, 'counted') ?? 0;
  const messages = readArrayOrNull(facts, 'constraints', decodeConstraintMessage) ?? [];
  return Object.freeze({
    kind: readCode(facts, 'kind', kinds),
    schema: readText(facts, 'schema'),
    name: readText(facts, 'name'),
    comment: readTextOrNull(facts, 'comment'),
    insertable: (writable & commandBits.insert) !== 0,
    updatable: (writable & commandBits.update) !== 0,
    deletable: (writable & commandBits.delete) !== 0,
    arbiter: readBoolean(facts, 'arbiter'),
    counted: Object.freeze({
      update: (counted & commandBits.update) !== 0,
      delete: (counted & commandBits.delete) !== 0,
    }),
    columns: readArray(facts, 'columns', (where, value) => decodeColumn(toJsonObject(where, value), context)),
    constraintMessages: Object.freeze(Object.fromEntries(messages.filter(([, message]) => message !== ''))),
    changeSources: readArrayOrNull(facts, 'changes', decodeChangeSource),
  });
}

function decodeChangeSource(where: string, value: unknown): ChangeSource {
  const facts = toJsonObject(where, value);
  const names = (member: string): readonly string[] =>
    readArrayOrNull(facts, member, (_, name) => String(name)) ?? noNames;
  const { members: shown } = toJsonObject(`${where}.shown`, facts.members['shown']);
  return Object.freeze({
    schema: readText(facts, 'schema'),
    name: readText(facts, 'name'),
    kind: readCode(facts, 'kind', kinds),
    unlogged: readBoolean(facts, 'unlogged'),
    inherited: readBoolean(facts, 'inherited'),
    identity: readCode(facts, 'identity', replicaIdentities),
    identityColumns: names('identityColumns'),
    primaryKey: names('primaryKey'),
    shown: Object.freeze(Object.fromEntries(Object.entries(shown).map(([column, name]) => [column, String(name)]))),
  });
}

const noNames: readonly string[] = Object.freeze([]);

export function decodeComparableTypes(facts: JsonObject): ComparableTypes {
  const oids = (member: string): ReadonlySet<number> => new Set(readArray(facts, member, (_, value) => Number(value)));
  return { ordered: oids('ordered'), equal: oids('equal') };
}

/** @returns the OID of the column type, and its operators */
export function decodeTypeOperators(facts: JsonObject): readonly [type: number, operators: TypeOperators] {
  const { members, path: where } = toJsonObject(`${facts.path}.names`, facts.members['names']);
  const values: Record<string, string> = {};
  const names = Object.entries(members).map(([standardOperator, name]) => {
    const [schema, operator, valueSchema, value] = Array.isArray(name) ? name.map(String) : [];
    if (schema === undefined || operator === undefined || !/^[-+*/<>=~!@#%^&|`?]+$/.test(operator))
      throw malformedRow(`${where}.${standardOperator}`, 'must be the schema and the name of an operator');
    if (valueSchema !== undefined && value !== undefined)
      values[standardOperator] = `${quoteIdentifier(valueSchema)}.${quoteIdentifier(value)}`;
    return [standardOperator, `operator(${quoteIdentifier(schema)}.${operator})`] as const;
  });
  const type = `${quoteIdentifier(readText(facts, 'inputSchema'))}.${quoteIdentifier(readText(facts, 'input'))}`;
  const operators = { type, names: Object.freeze(Object.fromEntries(names)), values: Object.freeze(values) };
  return [readInteger(facts, 'type'), Object.freeze(operators)];
}

function decodeConstraintMessage(where: string, value: unknown): readonly [constraint: string, message: string] {
  const facts = toJsonObject(where, value);
  return [
    [readText(facts, 'schema'), readText(facts, 'table'), readText(facts, 'name')].join('.'),
    parseConstraintComment(readText(facts, 'comment')).message,
  ];
}

function decodeColumn(
  facts: JsonObject,
  { findType, comparable, operators, keepsDefaults = false }: DecodeContext,
): TableColumn {
  const type = findType(readInteger(facts, 'type'), `${facts.path}.type`);
  const display = readTextOrNull(facts, 'display');
  const typeOperators = operators.get(type.baseOid);
  const identity = readText(facts, 'identity') in identities ? readText(facts, 'identity') : '';
  return Object.freeze({
    name: readText(facts, 'name'),
    type: display === null ? type : Object.freeze({ ...type, display }),
    notNull: readBoolean(facts, 'notNull'),
    hasDefault: readBoolean(facts, 'default'),
    ...(keepsDefaults ? { defaultExpression: readTextOrNull(facts, 'defaultExpression') } : {}),
    identity: identities[identity as keyof typeof identities],
    generated: readBoolean(facts, 'generated'),
    writable: readBoolean(facts, 'writable'),
    key: readBoolean(facts, 'key'),
    comparison: selectComparison(type, comparable),
    ...(typeOperators === undefined ? {} : { operators: typeOperators }),
  });
}

/** Arrays compare like their elements. Composite types are compared as text: they compare only if all fields do. */
function selectComparison(type: TypeFacts, comparable: ComparableTypes): Comparison {
  if (type.element !== undefined) return selectComparison(type.element, comparable);
  if (type.kind === 'enum' || type.kind === 'range') return 'ordered';
  if (comparable.ordered.has(type.baseOid)) return 'ordered';
  return comparable.equal.has(type.baseOid) ? 'equal' : 'none';
}
