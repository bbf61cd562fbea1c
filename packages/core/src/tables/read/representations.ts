import type { TableColumn } from '../../catalog/table.ts';
import type { TextTable } from '../../postgres/port.ts';
import { parseJsonObject, readText } from '../../catalog/json-object.ts';
import { quoteIdentifier } from '../../catalog/quote.ts';

/** The functions that write and read the values of a domain in requests and responses, as quoted and qualified names; null: none. */
export interface Representation {
  readonly toJson: string | null;
  readonly toText: string | null;
  readonly fromJson: string | null;
  readonly fromText: string | null;
}

/** A column of a relation, with the representation of its type. */
export interface RelationColumn extends TableColumn {
  /** Absent: values have the form of their type. */
  readonly representation?: Representation;
}

const none: Representation = { toJson: null, toText: null, fromJson: null, fromText: null };

const members: Readonly<Record<string, keyof Representation>> = {
  'to json': 'toJson',
  'to text': 'toText',
  'from json': 'fromJson',
  'from text': 'fromText',
};

/** Returns the representations by the quoted and qualified name of their domain. */
export function decodeRepresentations(rows: TextTable): ReadonlyMap<string, Representation> {
  const found = new Map<string, Representation>();
  for (const [index, [text]] of rows.entries()) {
    const facts = parseJsonObject(`cast ${index + 1}`, text ?? null);
    const name = (schema: string, member: string): string =>
      `${quoteIdentifier(readText(facts, schema))}.${quoteIdentifier(readText(facts, member))}`;
    const domain = name('schema', 'domain');
    const member = members[`${readText(facts, 'direction')} ${readText(facts, 'format')}`]!;
    found.set(domain, { ...(found.get(domain) ?? none), [member]: name('functionSchema', 'function') });
  }
  return found;
}

/** Returns the column with the representation of its type. */
export function representedColumn(
  column: TableColumn,
  representations: ReadonlyMap<string, Representation>,
): RelationColumn {
  const representation = representations.get(column.type.sql);
  return representation === undefined ? column : { ...column, representation };
}
