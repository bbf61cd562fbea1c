import { describeFaults } from '../validation/fault.ts';
import { filterOptions } from '../catalog/options.ts';
import type { Routine } from '../catalog/routine.ts';
import type { Filters } from '../catalog/options.ts';
import { type PageLimits, type TableOperation, tableOperations } from '../catalog/table.ts';
import {
  defaultsOf,
  type Option,
  option,
  optionGroup,
  type OptionGroup,
  type OptionTable,
  partOf,
  withDefaults,
} from '../validation/option.ts';
import {
  arrayOf,
  boolean,
  callback,
  integer,
  matching,
  nullable,
  oneOf,
  string,
  union,
} from '../validation/validators.ts';
import type { CrudOptions, ListingLimits } from './options.generated.ts';

export type { CrudOptions, ListingLimits } from './options.generated.ts';

/** An operation, or all of them. */
export type CrudType = TableOperation | 'all';

/** The options with their defaults applied. */
export interface ResolvedCrudOptions extends Filters {
  readonly operations: ReadonlySet<TableOperation>;
  readonly patterns: Readonly<Record<TableOperation, string>>;
  readonly created: NonNullable<CrudOptions['created']> | null;
  readonly commentsMode: NonNullable<Routine['commentsMode']> | null;
  readonly query: string | null;
  readonly allowUnfilteredDelete: boolean;
  readonly allowMissingRow: boolean;
  readonly listing: boolean;
  readonly limits: PageLimits;
}

const isPartial = true;
const crudType = oneOf(...tableOperations, 'all');
const pattern = matching(/\{0\}/, 'a path with {0}, which is replaced by the path of the table');
const urlPattern = (byDefault: string, operation: string): Option<string> =>
  option(pattern, byDefault, `The path of ${operation}; \`{0}\` is replaced by the path of the table.`);
const pageSize = integer({ min: 1, max: 1_000_000 });

export const listingLimits: OptionGroup<ListingLimits> = optionGroup<ListingLimits>(
  'ListingLimits',
  'The size of pages of a listing.',
  {
    defaultLimit: option(pageSize, 100, 'Rows in a page of a listing when the request sets no limit.'),
    maxLimit: option(pageSize, 1_000, 'Maximum rows in a page of a listing.'),
  },
);

/** The filters of the gateway, for tables. */
const tableFilters = Object.fromEntries(
  Object.entries(filterOptions.options).map(([name, filter]) => {
    const rule = filter.description.replace('routine', 'table').replace(/\.$/, '');
    return [name, { ...filter, description: `${rule}; null: as the filter of the gateway.` }];
  }),
) as unknown as OptionTable<Filters>;

export const crudOptions: OptionGroup<CrudOptions> = optionGroup<CrudOptions>(
  'CrudOptions',
  'Tables and views as endpoints (CRUD). Each filter that is not null replaces the filter of the gateway of that name.',
  {
    crudTypes: option(
      union(crudType, arrayOf(crudType)),
      'all',
      'The operations to publish, where PostgreSQL supports them.',
    ),
    commentsMode: option(
      nullable(oneOf('onlyWithHttpTag', 'parseAll', 'ignore')),
      null,
      'Which tables become endpoints; null: the value of `gateway.commentsMode`.',
    ),
    ...tableFilters,
    returningUrlPattern: urlPattern('{0}/returning', 'operations that return the affected rows'),
    onConflictDoNothingUrlPattern: urlPattern(
      '{0}/on-conflict-do-nothing',
      'an insert that keeps an existing row unchanged',
    ),
    onConflictDoNothingReturningUrlPattern: urlPattern(
      '{0}/on-conflict-do-nothing/returning',
      'the same insert, returning the rows',
    ),
    onConflictDoUpdateUrlPattern: urlPattern(
      '{0}/on-conflict-do-update',
      'an insert that updates an existing row (upsert)',
    ),
    onConflictDoUpdateReturningUrlPattern: urlPattern(
      '{0}/on-conflict-do-update/returning',
      'the same upsert, returning the rows',
    ),
    created: option(
      nullable(
        callback('(routine: Routine, crudType: TableOperation) => boolean | Promise<boolean>', {
          Routine: '../catalog/routine.ts',
          TableOperation: '../catalog/table.ts',
        }),
      ),
      null,
      'Called for each operation before its endpoint is built; false leaves it out. An error fails the start.',
    ),
    query: option(
      nullable(string),
      null,
      'Replaces the query that lists tables and views. `customTablesSql` documents its parameters and columns.',
    ),
    allowUnfilteredDelete: option(
      boolean,
      false,
      'Allows a DELETE request without a filter, which deletes every row; false: only where the comment allows it.',
    ),
    allowMissingRow: option(
      boolean,
      false,
      'Answers an update or delete by the complete key with 204 when no row has the key; false: with 404.',
    ),
    listing: option(
      boolean,
      false,
      'Enables sorting, pagination, filter operators, counts and row versions for every table; false: where the comment says `listing`.',
    ),
    listingLimits: option(partOf(listingLimits), {}, 'The size of pages of a listing.'),
  },
  { isPartial },
);

/** @throws RangeError that names the invalid option */
export function resolveCrudOptions(options: CrudOptions): ResolvedCrudOptions {
  const faults = crudOptions.validate(options, []);
  if (faults.length > 0) throw new RangeError(`crudSource: ${describeFaults(faults)}`);
  const all = withDefaults(crudOptions, options);
  const { crudTypes, query, listingLimits: limits, ...rest } = all;
  return {
    ...rest,
    operations: selectOperations(crudTypes),
    patterns: resolvePatterns(all),
    query: query?.trim() ? query : null,
    limits: resolveLimits(limits),
  };
}

function selectOperations(types: CrudType | readonly CrudType[]): ReadonlySet<TableOperation> {
  const selected = [types].flat();
  return new Set(tableOperations.filter((type) => selected.includes('all') || selected.includes(type)));
}

function resolvePatterns(options: Required<CrudOptions>): Readonly<Record<TableOperation, string>> {
  const returning = options.returningUrlPattern;
  return {
    select: '{0}',
    update: '{0}',
    updateReturning: returning,
    delete: '{0}',
    deleteReturning: returning,
    insert: '{0}',
    insertReturning: returning,
    insertOnConflictDoNothing: options.onConflictDoNothingUrlPattern,
    insertOnConflictDoNothingReturning: options.onConflictDoNothingReturningUrlPattern,
    insertOnConflictDoUpdate: options.onConflictDoUpdateUrlPattern,
    insertOnConflictDoUpdateReturning: options.onConflictDoUpdateReturningUrlPattern,
  };
}

function resolveLimits(options: Partial<PageLimits>): PageLimits {
  const byDefault = defaultsOf(listingLimits);
  const maxLimit = options.maxLimit ?? byDefault.maxLimit;
  const limits = { maxLimit, defaultLimit: options.defaultLimit ?? Math.min(byDefault.defaultLimit, maxLimit) };
  if (limits.defaultLimit > limits.maxLimit) {
    throw new RangeError(
      `listingLimits.defaultLimit: ${limits.defaultLimit} exceeds maxLimit ${limits.maxLimit}; lower it, or raise maxLimit`,
    );
  }
  return limits;
}
