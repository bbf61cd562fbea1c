import {
  boolean,
  crudOptions,
  describeFaults,
  nonEmptyString,
  nullable,
  option,
  optionGroup,
  type OptionGroup,
  type ResolvedCrudOptions,
  resolveCrudOptions,
  withDefaults,
} from '@pgway/core/internal';
import type { DatabaseTypesOptions, PostgrestOptions, PostgrestSourceOptions } from './options.generated.ts';

export type { DatabaseTypesOptions, PostgrestOptions, PostgrestSourceOptions } from './options.generated.ts';

/** The options with their defaults applied. */
export type ResolvedPostgrestOptions = ResolvedCrudOptions & PostgrestOptions;

export const postgrestOptions: OptionGroup<PostgrestOptions> = optionGroup<PostgrestOptions>(
  'PostgrestOptions',
  'The dialect of PostgREST.',
  {
    path: option(nonEmptyString, '/rest', 'The path of the tables: `/rest` has `/rest/<table>`.'),
    allowUnfilteredUpdate: option(boolean, false, 'Allows a PATCH request without a filter, which changes every row.'),
    allowRollback: option(
      boolean,
      false,
      'Allows `Prefer: tx=rollback`, with which a client undoes its request, and with it what triggers have recorded.',
    ),
    allowAggregates: option(
      boolean,
      false,
      'Allows aggregates in `select`, such as `amount.sum()`. They read all rows that meet the filters.',
    ),
  },
);

export const databaseTypesOptions: OptionGroup<DatabaseTypesOptions> = optionGroup<DatabaseTypesOptions>(
  'DatabaseTypesOptions',
  'The TypeScript type `Database` of the dialect `postgrest`, for `createClient<Database>()`.',
  {
    filePath: option(
      nullable(nonEmptyString),
      null,
      'The file that `pgway generate` writes, such as `src/database.types.ts`. Null: no file is written.',
    ),
    fileOverwrite: option(boolean, false, 'Overwrites an existing file with other content.'),
  },
);

const {
  returningUrlPattern: _returning,
  onConflictDoNothingUrlPattern: _nothing,
  onConflictDoNothingReturningUrlPattern: _nothingReturning,
  onConflictDoUpdateUrlPattern: _update,
  onConflictDoUpdateReturningUrlPattern: _updateReturning,
  allowMissingRow: _missingRow,
  listing: _listing,
  ...tableOptions
} = crudOptions.options;

export const postgrestSourceOptions: OptionGroup<PostgrestSourceOptions> = optionGroup<PostgrestSourceOptions>(
  'PostgrestSourceOptions',
  'Tables, views and functions in the dialect of PostgREST. Each filter that is not null replaces the filter of the gateway of that name.',
  { ...tableOptions, ...postgrestOptions.options },
  { isPartial: true },
);

/** @throws RangeError that names the invalid option */
export function resolvePostgrestOptions(options: PostgrestSourceOptions): ResolvedPostgrestOptions {
  const faults = postgrestSourceOptions.validate(options, []);
  if (faults.length > 0) throw new RangeError(`postgrestSource: ${describeFaults(faults)}`);
  const { path, allowUnfilteredUpdate, allowRollback, allowAggregates, ...tables } = withDefaults(
    postgrestSourceOptions,
    options,
  );
  return {
    ...resolveCrudOptions(tables),
    path: trimPath(path),
    allowUnfilteredUpdate,
    allowRollback,
    allowAggregates,
  };
}

/** Clients give a path with or without slashes at its ends. */
function trimPath(path: string): string {
  const trimmed = path.replaceAll(/^\/+|\/+$/g, '');
  return trimmed === '' ? '' : `/${trimmed}`;
}
