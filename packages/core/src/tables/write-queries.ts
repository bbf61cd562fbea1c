import { quoteIdentifier } from '../catalog/quote.ts';
import type { QueryBuilder } from '../ports/ports.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { type Fragment, joinFragments, textFragment, toStatement } from './fragment.ts';
import {
  listColumnParameters,
  type ProvidedColumn,
  listProvidedColumns,
  missingColumn,
  toStoredValue,
  type ColumnParameter,
  aliasedTable,
  requireTable,
} from './provided-columns.ts';
import { isSettable } from './operations.ts';
import { returningClause } from './returning.ts';

/** Inserts the given columns; what happens when there is a row of that key already is a plain error (null), nothing, or an update. */
export function insertBuilder(onConflict: 'nothing' | 'update' | null): QueryBuilder {
  return (parts) => {
    const { endpoint } = parts;
    const given = listProvidedColumns(parts);
    refuseMissing(listColumnParameters(endpoint), given, onConflict !== null);
    const end = textFragment('', `${conflict(onConflict, endpoint, given)}${returningClause(endpoint, {})}`);
    const into = textFragment('', `insert into ${aliasedTable(endpoint)}`);
    return toStatement('insert', joinFragments([into, given.length === 0 ? defaults : rowOf(given), end], ''));
  };
}

/** A row that the table makes all by itself. */
const defaults = textFragment('defaults', ' default values');

function rowOf(given: readonly ProvidedColumn[]): Fragment {
  const names = textFragment('', ` (${given.map(name).join(', ')})${overriding(given)} values (`);
  return joinFragments([names, joinFragments(given.map(bound), ', '), textFragment('', ')')], '');
}

const name = ({ facts }: ColumnParameter): string => quoteIdentifier(facts.name);

function bound(column: ProvidedColumn): Fragment {
  const { parameter } = column;
  return {
    form: `${parameter.position}`,
    text: (next) => `${next()}::${parameter.type.sql}`,
    values: [toStoredValue(column)],
  };
}

/** Without these the row cannot be, whatever its other columns are; and a conflict is looked for by the whole key. */
function refuseMissing(all: readonly ColumnParameter[], given: readonly ProvidedColumn[], keyed: boolean): void {
  const names = new Set(given.map(({ facts }) => facts.name));
  const missing = all.filter(({ facts }) => !names.has(facts.name) && (needed(facts) || (keyed && facts.key)));
  if (missing.length === 0) return;
  throw missingColumn(missing, `The row needs these columns${given.length === 0 ? '' : ' too'}`);
}

function needed({ notNull, hasDefault, identity, generated }: ColumnParameter['facts']): boolean {
  return notNull && !hasDefault && identity === null && !generated;
}

/** A value for an identity column that is always generated is taken when the statement insists. */
function overriding(given: readonly ProvidedColumn[]): string {
  return given.some(({ facts }) => facts.identity === 'always') ? ' overriding system value' : '';
}

function conflict(action: 'nothing' | 'update' | null, endpoint: Endpoint, given: readonly ProvidedColumn[]): string {
  if (action === null) return '';
  const keys = requireTable(endpoint).columns.filter(({ key }) => key);
  const target = ` on conflict (${keys.map((key) => quoteIdentifier(key.name)).join(', ')}) do`;
  const set = action === 'update' ? given.filter(({ facts }) => isSettable(facts)) : [];
  // Where only the key is given there is nothing to set.
  if (set.length === 0) return `${target} nothing`;
  return `${target} update set ${set.map((column) => `${name(column)} = excluded.${name(column)}`).join(', ')}`;
}
