import type { Dialect, Routine } from '../catalog/routine.ts';
import type { Filters } from '../catalog/routine-source.ts';
import { type PageLimits, type TableOperation, tableOperations } from '../catalog/table.ts';
import {
  callback,
  boolean,
  optionGroup,
  type Validator,
  arrayOf,
  nonEmptyString,
  nullable,
  oneOf,
  type OptionValidators,
  union,
  string,
  integer,
} from '../validation/validators.ts';

/** An operation, or all of them. */
export type CrudType = TableOperation | 'all';

/** Options of the endpoints for tables and views. Each filter that is not null replaces the gateway's filter of that name. */
export interface CrudOptions extends Filters {
  /** The published operations: one, several, or `all`. */
  readonly crudTypes?: CrudType | readonly CrudType[];
  /** `{0}` is the path of the table. */
  readonly returningUrlPattern?: string;
  readonly onConflictDoNothingUrlPattern?: string;
  readonly onConflictDoNothingReturningUrlPattern?: string;
  readonly onConflictDoUpdateUrlPattern?: string;
  readonly onConflictDoUpdateReturningUrlPattern?: string;
  /** Called for each operation before its endpoint is built; false leaves it out. An error fails the start. */
  readonly created?: ((routine: Routine, crudType: TableOperation) => boolean | Promise<boolean>) | null;
  /** Replaces the gateway's `commentsMode`. */
  readonly commentsMode?: NonNullable<Routine['commentsMode']> | null;
  /** Replaces the catalog query for tables and views; `customTablesSql` documents its parameters and columns. Null: the built-in query. */
  readonly query?: string | null;
  /** Whether a DELETE without a condition may delete every row. */
  readonly allowUnfilteredDelete?: boolean;
  /** Whether an update or delete by the complete key is answered with 204 when no row has it; false: with 404. */
  readonly allowMissingRow?: boolean;
  /** Enables ordering, pagination, filters and counts for every table; false: for tables with the annotation `listing`. */
  readonly listing?: boolean;
  /** Rows per page of a listing: the default (100), and the most that a client may ask for (1,000). */
  readonly listingLimits?: Partial<PageLimits>;
  /** The spelling of requests and responses. `postgrest`: that of PostgREST, at `postgrest.path`. Null: that of pgway. */
  readonly dialect?: Dialect | null;
  /** Options of the dialect `postgrest`. */
  readonly postgrest?: Partial<PostgrestOptions>;
}

/** Options of the dialect `postgrest`. */
export interface PostgrestOptions {
  /** The path of all tables: `/rest` has `/rest/<table>`. */
  readonly path: string;
  /** Whether a PATCH without a condition may change every row. */
  readonly allowUnfilteredUpdate: boolean;
  /** Whether clients may end a transaction with a rollback (`Prefer: tx=rollback`), as tests do. */
  readonly allowRollback: boolean;
  /** Whether requests may select `avg`, `count`, `max`, `min` and `sum` of columns. */
  readonly allowAggregates: boolean;
}

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
  readonly dialect: Dialect | null;
  readonly postgrest: PostgrestOptions;
}

const crudType = oneOf(...tableOperations, 'all');
const names = nullable(arrayOf(nonEmptyString));
const similarTo = nullable(string);

const limitValidators: OptionValidators<PageLimits> = {
  defaultLimit: integer({ min: 1 }),
  maxLimit: integer({ min: 1 }),
};

const postgrestValidators: OptionValidators<PostgrestOptions> = {
  path: nonEmptyString,
  allowUnfilteredUpdate: boolean,
  allowRollback: boolean,
  allowAggregates: boolean,
};

/** One validator per option of `CrudOptions`; the type makes a missing one a compile error. */
export const crudOptionTable: OptionValidators<CrudOptions> = {
  crudTypes: union(crudType, arrayOf(crudType)),
  returningUrlPattern: string,
  onConflictDoNothingUrlPattern: string,
  onConflictDoNothingReturningUrlPattern: string,
  onConflictDoUpdateUrlPattern: string,
  onConflictDoUpdateReturningUrlPattern: string,
  created: nullable(callback()),
  commentsMode: nullable(oneOf('onlyWithHttpTag', 'parseAll', 'ignore')),
  query: nullable(string),
  allowUnfilteredDelete: boolean,
  allowMissingRow: boolean,
  listing: boolean,
  listingLimits: optionGroup<Partial<PageLimits>>(limitValidators),
  dialect: nullable(oneOf('postgrest')),
  postgrest: optionGroup<Partial<PostgrestOptions>>(postgrestValidators),
  includeSchemas: names,
  excludeSchemas: names,
  includeNames: names,
  excludeNames: names,
  schemaSimilarTo: similarTo,
  schemaNotSimilarTo: similarTo,
  nameSimilarTo: similarTo,
  nameNotSimilarTo: similarTo,
};

const crudOptionsValidator: Validator<CrudOptions> = optionGroup(crudOptionTable);

const defaultLimits: PageLimits = { defaultLimit: 100, maxLimit: 1_000 };

/** @throws RangeError that names the invalid option */
export function resolveCrudOptions(options: CrudOptions): ResolvedCrudOptions {
  const errors = crudOptionsValidator.validate(options, '');
  if (errors.length > 0) throw new RangeError(`crudSource: ${errors.join('\n')}`);
  const {
    created,
    commentsMode,
    query,
    allowUnfilteredDelete,
    allowMissingRow,
    listing,
    listingLimits,
    crudTypes,
    dialect,
    postgrest,
    ...rest
  } = options;
  return {
    ...rest,
    operations: selectOperations(crudTypes ?? 'all'),
    patterns: resolvePatterns(options),
    created: created ?? null,
    commentsMode: commentsMode ?? null,
    query: query?.trim() ? query : null,
    allowUnfilteredDelete: allowUnfilteredDelete ?? false,
    allowMissingRow: allowMissingRow === true,
    listing: listing ?? false,
    limits: resolveLimits(listingLimits ?? {}),
    dialect: dialect ?? null,
    postgrest: resolvePostgrest(postgrest ?? {}),
  };
}

/** Clients give a path with or without slashes at its ends. */
function resolvePostgrest({ path = '/rest', ...options }: Partial<PostgrestOptions>): PostgrestOptions {
  const trimmed = path.replaceAll(/^\/+|\/+$/g, '');
  const defaults = { allowUnfilteredUpdate: false, allowRollback: false, allowAggregates: false };
  return { ...defaults, ...options, path: trimmed === '' ? '' : `/${trimmed}` };
}

function selectOperations(types: CrudType | readonly CrudType[]): ReadonlySet<TableOperation> {
  const selected = [types].flat();
  return new Set(tableOperations.filter((type) => selected.includes('all') || selected.includes(type)));
}

function resolvePatterns(options: CrudOptions): Readonly<Record<TableOperation, string>> {
  const returning = resolvePattern(options, 'returningUrlPattern', '{0}/returning');
  return {
    select: '{0}',
    update: '{0}',
    updateReturning: returning,
    delete: '{0}',
    deleteReturning: returning,
    insert: '{0}',
    insertReturning: returning,
    insertOnConflictDoNothing: resolvePattern(options, 'onConflictDoNothingUrlPattern', '{0}/on-conflict-do-nothing'),
    insertOnConflictDoNothingReturning: resolvePattern(
      options,
      'onConflictDoNothingReturningUrlPattern',
      '{0}/on-conflict-do-nothing/returning',
    ),
    insertOnConflictDoUpdate: resolvePattern(options, 'onConflictDoUpdateUrlPattern', '{0}/on-conflict-do-update'),
    insertOnConflictDoUpdateReturning: resolvePattern(
      options,
      'onConflictDoUpdateReturningUrlPattern',
      '{0}/on-conflict-do-update/returning',
    ),
  };
}

type PatternName = Extract<keyof CrudOptions, `${string}UrlPattern`>;

function resolvePattern(options: CrudOptions, name: PatternName, defaultPattern: string): string {
  const pattern = options[name] ?? defaultPattern;
  if (!pattern.includes('{0}'))
    throw new RangeError(`${name}: ${JSON.stringify(pattern)} must contain {0}, the path of the table`);
  return pattern;
}

function resolveLimits(options: Partial<PageLimits>): PageLimits {
  const maxLimit = options.maxLimit ?? defaultLimits.maxLimit;
  const limits = { maxLimit, defaultLimit: options.defaultLimit ?? Math.min(defaultLimits.defaultLimit, maxLimit) };
  if (limits.defaultLimit > limits.maxLimit) {
    throw new RangeError(
      `listingLimits.defaultLimit: ${limits.defaultLimit} exceeds maxLimit ${limits.maxLimit}; lower it, or raise maxLimit`,
    );
  }
  return limits;
}
