/** Values of requests and responses, as descriptions of operations have them. */
import type { NamedType, TypeFacts } from '@pgway/core';
import { createTypeConverter, type DescribedMember, type DescribedValue } from '@pgway/core/internal';
import type { Target } from '../target.ts';

/** Fields of composite types have their exact names. */
export const exactType: (type: TypeFacts) => NamedType = createTypeConverter((name) => name);

export const text: DescribedValue = { kind: 'text' };
export const count: DescribedValue = { kind: 'integer', minimum: 0 };

export function oneOf(...values: readonly string[]): DescribedValue {
  return { kind: 'text', values };
}

export function example(sample: string): DescribedValue {
  return { kind: 'text', example: sample };
}

export function list(items: DescribedValue): DescribedValue {
  return { kind: 'list', items };
}

export function typed(type: TypeFacts | NamedType, nullable: boolean): DescribedValue {
  return { kind: 'type', type: exactType(type as TypeFacts), nullable };
}

/** Returns the type of a column, which is JSON for a domain with a representation as JSON. */
export function representedType({ type, representation }: Column): NamedType {
  if (!representation?.toJson && !representation?.fromJson) return exactType(type);
  const { sql, display, oid } = type;
  return { sql, display, oid, baseOid: jsonOid, kind: 'base', json: 'json', textual: false, builtin: 'json' };
}

const jsonOid = 114;

/** Values of a domain with a representation are any JSON, in rows or in bodies. */
export function columnValue(
  { type, notNull, representation }: Column,
  direction: 'toJson' | 'fromJson',
): DescribedValue {
  return representation?.[direction] ? { kind: 'any' } : typed(type, !notNull);
}

/** A row of a response. `select` may leave columns out, and add related rows and computed columns. */
export function selectedRow({ columns }: Pick<Target, 'columns'>): DescribedValue {
  const members = [...columns.values()].map((column): DescribedMember => ({
    name: column.name,
    description: column.type.display,
    required: false,
    value: columnValue(column, 'toJson'),
  }));
  return { kind: 'object', members, open: true };
}

/** A row whose values may have other types than its columns: `select` casts and renames. */
export function reshapedRow({ columns }: Pick<Target, 'columns'>): DescribedValue {
  const members = [...columns.values()].map(({ name, type }): DescribedMember => ({
    name,
    description: type.display,
    required: false,
    value: { kind: 'any' },
  }));
  return { kind: 'object', members, open: true };
}

/** A row that a request writes. An insert may have related rows, too. */
export function writtenRow({ columns }: Pick<Target, 'columns'>, action: 'insert' | 'update'): DescribedValue {
  const writable = [...columns.values()].filter(isWritable);
  const members = writable.map((column): DescribedMember => ({
    name: column.name,
    description: column.type.display,
    required: action === 'insert' && isRequired(column),
    value: columnValue(column, 'fromJson'),
  }));
  return { kind: 'object', members, open: true };
}

type Column = Target['columns'] extends ReadonlyMap<string, infer Value> ? Value : never;

/** Whether a client may give a value for the column. */
export function isWritable({ generated, identity, writable }: Column): boolean {
  return writable && !generated && identity !== 'always';
}

/** Whether an insert fails without a value for the column. */
export function isRequired(column: Column): boolean {
  return isWritable(column) && column.notNull && !column.hasDefault && column.identity === null;
}

const error: DescribedValue = {
  kind: 'object',
  members: [
    {
      name: 'code',
      description: 'The SQLSTATE of PostgreSQL, or a code of the interface, such as PGRST100',
      required: true,
      value: text,
    },
    { name: 'message', description: 'What is wrong', required: true, value: text },
    {
      name: 'details',
      description: 'More about it: text, null, or a list of the relationships that a name may mean',
      required: true,
      value: { kind: 'any' },
    },
    { name: 'hint', description: 'What to do', required: true, value: { kind: 'text', nullable: true } },
  ],
  open: true,
};

/** The body of every error. */
export const errorValue: DescribedValue = { kind: 'shared', name: 'Error', value: error };
