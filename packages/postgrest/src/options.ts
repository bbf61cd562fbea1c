import {
  arrayOf,
  boolean,
  crudOptions,
  describeFaults,
  hidden,
  matching,
  nonEmptyString,
  nullable,
  oneOf,
  option,
  optionGroup,
  type OptionGroup,
  recordOf,
  type ResolvedCrudOptions,
  resolveCrudOptions,
  string,
  withDefaults,
} from '@pgway/core/internal';
import type { DatabaseTypesOptions, PostgrestOptions, PostgrestSourceOptions } from './options.generated.ts';
import { appSettingFault, functionName } from './transaction-options.ts';

export type { DatabaseTypesOptions, PostgrestOptions, PostgrestSourceOptions } from './options.generated.ts';

/** The options with their defaults applied. */
export type ResolvedPostgrestOptions = ResolvedCrudOptions &
  PostgrestOptions & {
    readonly serverUrl: string | null;
  };

export const postgrestOptions: OptionGroup<PostgrestOptions> = optionGroup<PostgrestOptions>(
  'PostgrestOptions',
  'The dialect of PostgREST.',
  {
    path: option(nonEmptyString, '/rest', 'The path of the tables: `/rest` has `/rest/<table>`.'),
    allowUnfilteredUpdate: option(boolean, false, 'Allows a PATCH request without a filter, which changes every row.'),
    planEnabled: option(
      boolean,
      false,
      'Allows `Accept: application/vnd.pgrst.plan`, which responds with the plan of the statement. It shows names, numbers of rows and conditions of policies.',
    ),
    txEnd: option(
      oneOf('commit', 'commit-allow-override', 'rollback', 'rollback-allow-override'),
      'commit',
      'How the transaction of a request ends. With `allow-override`, `Prefer: tx=commit` and `Prefer: tx=rollback` decide: a client can then undo its request, and with it what triggers have recorded.',
    ),
    preRequest: option(
      nullable(matching(functionName, 'the qualified name of a function, such as `auth.check_request`')),
      null,
      'A function without arguments that each request calls in its transaction, before its statement, with the role of the request.',
    ),
    extraSearchPath: option(
      nullable(arrayOf(nonEmptyString)),
      null,
      'The `search_path` of a request: the schema of its table or function, then these schemas. Null: the `search_path` of the connection.',
    ),
    appSettings: option(
      recordOf(hidden(string), appSettingFault),
      {},
      'Settings of each request for functions and policies: `{ "region": "north" }` is `current_setting(\'app.settings.region\')`.',
    ),
    openApiMode: option(
      oneOf('follow-privileges', 'ignore-privileges', 'disabled'),
      'follow-privileges',
      'What the OpenAPI 2 document at `path` describes: what the caller may do, or, with `ignore-privileges`, all tables and functions, whatever privileges and `authorize` say. `disabled`: there is no document.',
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

/** An absolute URL without a query and without variables. */
export const serverUrlPattern: RegExp = /^https?:\/\/[^/?#{}\s]+(?:\/[^?#{}\s]*)?$/;

export const postgrestSourceOptions: OptionGroup<PostgrestSourceOptions> = optionGroup<PostgrestSourceOptions>(
  'PostgrestSourceOptions',
  'Tables, views and functions in the dialect of PostgREST. Each filter that is not null replaces the filter of the gateway of that name.',
  {
    ...tableOptions,
    ...postgrestOptions.options,
    serverUrl: option(
      nullable(matching(serverUrlPattern, 'an absolute URL such as https://api.example.org/v1')),
      null,
      'The URL in front of `path` in the OpenAPI 2 document, such as that of a reverse proxy. Null: the document has no host.',
    ),
  },
  { isPartial: true },
);

/** @throws RangeError that names the invalid option */
export function resolvePostgrestOptions(options: PostgrestSourceOptions): ResolvedPostgrestOptions {
  const faults = postgrestSourceOptions.validate(options, []);
  if (faults.length > 0) throw new RangeError(`postgrestSource: ${describeFaults(faults)}`);
  const all = withDefaults(postgrestSourceOptions, options);
  const tables = Object.entries(all).filter(([name]) => Object.hasOwn(tableOptions, name));
  const own = Object.entries(all).filter(([name]) => Object.hasOwn(postgrestOptions.options, name));
  const dialect = Object.fromEntries(own) as unknown as PostgrestOptions;
  const { path, serverUrl } = all;
  return { ...resolveCrudOptions(Object.fromEntries(tables)), ...dialect, path: trimPath(path), serverUrl };
}

/** Clients give a path with or without slashes at its ends. */
function trimPath(path: string): string {
  const trimmed = path.replaceAll(/^\/+|\/+$/g, '');
  return trimmed === '' ? '' : `/${trimmed}`;
}
