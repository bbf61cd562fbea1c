import { quoteIdentifier } from '../catalog/quote.ts';
import type { QueryBuilder } from '../ports/ports.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { type Fragment, join, plain, statementOf } from './fragment.ts';
import {
  allColumns,
  type GivenColumn,
  givenColumns,
  missingColumns,
  stored,
  type TableColumn,
  tableName,
  tableOf,
} from './provided-columns.ts';
import { settable } from './operations.ts';
import { returning } from './returning.ts';

/** Inserts the given columns; what happens when there is a row of that key already is a plain error (null), nothing, or an update. */
export function insertCommand(onConflict: 'nothing' | 'update' | null): QueryBuilder {
  return (parts) => {
    const { endpoint } = parts;
    const given = givenColumns(parts);
    refuseMissing(allColumns(endpoint), given, onConflict !== null);
    const end = plain('', `${conflict(onConflict, endpoint, given)}${returning(endpoint, {})}`);
    const into = plain('', `insert into ${tableName(endpoint)}`);
    return statementOf('insert', join([into, given.length === 0 ? defaults : rowOf(given), end], ''));
  };
}

/** A row that the table makes all by itself. */
const defaults = plain('defaults', ' default values');

function rowOf(given: readonly GivenColumn[]): Fragment {
  const names = plain('', ` (${given.map(name).join(', ')})${overriding(given)} values (`);
  return join([names, join(given.map(bound), ', '), plain('', ')')], '');
}

const name = ({ facts }: TableColumn): string => quoteIdentifier(facts.name);

function bound(column: GivenColumn): Fragment {
  const { parameter } = column;
  return {
    form: `${parameter.position}`,
    text: (next) => `${next()}::${parameter.type.sql}`,
    values: [stored(column)],
  };
}

/** Without these the row cannot be, whatever its other columns are; and a conflict is looked for by the whole key. */
function refuseMissing(all: readonly TableColumn[], given: readonly GivenColumn[], keyed: boolean): void {
  const names = new Set(given.map(({ facts }) => facts.name));
  const missing = all.filter(({ facts }) => !names.has(facts.name) && (needed(facts) || (keyed && facts.key)));
  if (missing.length === 0) return;
  throw missingColumns(missing, `The row needs these columns${given.length === 0 ? '' : ' too'}`);
}

function needed({ notNull, hasDefault, identity, generated }: TableColumn['facts']): boolean {
  return notNull && !hasDefault && identity === null && !generated;
}

/** A value for an identity column that is always generated is taken when the statement insists. */
function overriding(given: readonly GivenColumn[]): string {
  return given.some(({ facts }) => facts.identity === 'always') ? ' overriding system value' : '';
}

function conflict(action: 'nothing' | 'update' | null, endpoint: Endpoint, given: readonly GivenColumn[]): string {
  if (action === null) return '';
  const keys = tableOf(endpoint).columns.filter(({ key }) => key);
  const target = ` on conflict (${keys.map((key) => quoteIdentifier(key.name)).join(', ')}) do`;
  const set = action === 'update' ? given.filter(({ facts }) => settable(facts)) : [];
  // Where only the key is given there is nothing to set.
  if (set.length === 0) return `${target} nothing`;
  return `${target} update set ${set.map((column) => `${name(column)} = excluded.${name(column)}`).join(', ')}`;
}
