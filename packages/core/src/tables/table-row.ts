import {
  asFacts,
  type Facts,
  flag,
  letter,
  list,
  listOrNull,
  malformed,
  text,
  textOrNull,
  whole,
} from '../catalog/json-object.ts';
import { quoteIdentifier } from '../catalog/quote.ts';
import type { TypeFacts } from '../catalog/type-facts.ts';
import type { Comparison, Operators, RelationKind, TableColumn } from '../catalog/table.ts';
import type { TypeLookup } from '../catalog/type-lookup.ts';

/** A table or view as the catalog has it. */
export interface Table {
  readonly kind: RelationKind;
  readonly schema: string;
  readonly name: string;
  readonly comment: string | null;
  readonly insertable: boolean;
  readonly updatable: boolean;
  readonly deletable: boolean;
  /** Whether ON CONFLICT can name the key. */
  readonly arbiter: boolean;
  readonly columns: readonly TableColumn[];
  readonly constraintMessages: Readonly<Record<string, string>>;
}

/** OIDs of the types that PostgreSQL can compare. */
export interface Comparable {
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

const identities = { '': null, a: 'always', d: 'byDefault' } as const;

/** Bits of `pg_relation_is_updatable`: one shifted by PostgreSQL's number of the command. */
const bits = { update: 4, insert: 8, delete: 16 } as const;

export interface Reading {
  readonly typeOf: TypeLookup;
  readonly comparable: Comparable;
  /** By the OID of the type of columns. */
  readonly operators: ReadonlyMap<number, Operators>;
}

export function decodeTable(facts: Facts, reading: Reading): Table {
  const writable = whole(facts, 'writable');
  const messages = listOrNull(facts, 'constraints', decodeMessage) ?? [];
  return Object.freeze({
    kind: letter(facts, 'kind', kinds),
    schema: text(facts, 'schema'),
    name: text(facts, 'name'),
    comment: textOrNull(facts, 'comment'),
    insertable: (writable & bits.insert) !== 0,
    updatable: (writable & bits.update) !== 0,
    deletable: (writable & bits.delete) !== 0,
    arbiter: flag(facts, 'arbiter'),
    columns: list(facts, 'columns', (where, value) => decodeColumn(asFacts(where, value), reading)),
    constraintMessages: Object.freeze(Object.fromEntries(messages)),
  });
}

export function decodeComparable(facts: Facts): Comparable {
  const oids = (member: string): ReadonlySet<number> => new Set(list(facts, member, (_, value) => Number(value)));
  return { ordered: oids('ordered'), equal: oids('equal') };
}

/** @returns the OID of the type, and its operators */
export function decodeOperators(facts: Facts): readonly [type: number, operators: Operators] {
  const { members, where } = asFacts(`${facts.where}.names`, facts.members['names']);
  const names = Object.entries(members).map(([meaning, name]) => {
    const [schema, operator] = Array.isArray(name) ? name.map(String) : [];
    if (schema === undefined || operator === undefined || !/^[-+*/<>=~!@#%^&|`?]+$/.test(operator))
      throw malformed(`${where}.${meaning}`, 'must be the schema and the name of an operator');
    return [meaning, `operator(${quoteIdentifier(schema)}.${operator})`] as const;
  });
  const type = `${quoteIdentifier(text(facts, 'inputSchema'))}.${quoteIdentifier(text(facts, 'input'))}`;
  return [whole(facts, 'type'), Object.freeze({ type, names: Object.freeze(Object.fromEntries(names)) })];
}

function decodeMessage(where: string, value: unknown): readonly [constraint: string, message: string] {
  const facts = asFacts(where, value);
  return [[text(facts, 'schema'), text(facts, 'table'), text(facts, 'name')].join('.'), text(facts, 'comment')];
}

function decodeColumn(facts: Facts, { typeOf, comparable, operators }: Reading): TableColumn {
  const type = typeOf(whole(facts, 'type'), `${facts.where}.type`);
  const display = textOrNull(facts, 'display');
  const own = operators.get(type.baseOid);
  const identity = text(facts, 'identity') in identities ? text(facts, 'identity') : '';
  return Object.freeze({
    name: text(facts, 'name'),
    type: display === null ? type : Object.freeze({ ...type, display }),
    notNull: flag(facts, 'notNull'),
    hasDefault: flag(facts, 'default'),
    identity: identities[identity as keyof typeof identities],
    generated: flag(facts, 'generated'),
    writable: flag(facts, 'writable'),
    key: flag(facts, 'key'),
    comparison: comparisonOf(type, comparable),
    ...(own === undefined ? {} : { operators: own }),
  });
}

/** Arrays compare as their elements do; rows only when all their fields do, so their text is compared instead. */
function comparisonOf(type: TypeFacts, comparable: Comparable): Comparison {
  if (type.element !== undefined) return comparisonOf(type.element, comparable);
  if (type.kind === 'enum' || type.kind === 'range') return 'ordered';
  if (comparable.ordered.has(type.baseOid)) return 'ordered';
  return comparable.equal.has(type.baseOid) ? 'equal' : 'none';
}
