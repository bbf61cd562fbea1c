import type { Routine } from '../catalog/routine.ts';
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

/**
 * How tables and views are published. Every member has a default; each filter that is not null takes the place of the gateway's own
 * of that name.
 */
export interface CrudOptions extends Filters {
  /** Which operations there are: one, several, or `all`. */
  readonly crudTypes?: CrudType | readonly CrudType[];
  /** `{0}` stands for the path of the table. */
  readonly returningUrlPattern?: string;
  readonly onConflictDoNothingUrlPattern?: string;
  readonly onConflictDoNothingReturningUrlPattern?: string;
  readonly onConflictDoUpdateUrlPattern?: string;
  readonly onConflictDoUpdateReturningUrlPattern?: string;
  /** Told of each operation before it is planned; false leaves it out. What it throws fails the start. */
  readonly created?: ((routine: Routine, crudType: TableOperation) => boolean | Promise<boolean>) | null;
  /** In place of the gateway's own. */
  readonly commentsMode?: NonNullable<Routine['commentsMode']> | null;
  /** Replaces the query that lists tables and views; `customTablesSql` documents its parameters and columns. Null: the built-in one. */
  readonly query?: string | null;
  /** Whether a delete without any condition may delete every row. */
  readonly allowUnfilteredDelete?: boolean;
  /** Order, pages, operators, counts and versions for every table; false: only where a comment says `listing`. */
  readonly listing?: boolean;
  /** Rows in one answer of a listing: when the client says nothing (100), and at most (1,000). */
  readonly listingLimits?: Partial<PageLimits>;
}

/** All options, each with its value. */
export interface ResolvedCrudOptions extends Filters {
  readonly operations: ReadonlySet<TableOperation>;
  readonly patterns: Readonly<Record<TableOperation, string>>;
  readonly created: NonNullable<CrudOptions['created']> | null;
  readonly commentsMode: NonNullable<Routine['commentsMode']> | null;
  readonly query: string | null;
  readonly allowUnfilteredDelete: boolean;
  readonly listing: boolean;
  readonly limits: PageLimits;
}

const crudType = oneOf(...tableOperations, 'all');
const names = nullable(arrayOf(nonEmptyString));
const similarTo = nullable(string);

const limits: OptionValidators<PageLimits> = { defaultLimit: integer({ min: 1 }), maxLimit: integer({ min: 1 }) };

/** What every option of `crudSource` takes; the compiler holds it equal to the type of the options. */
const table: OptionValidators<CrudOptions> = {
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
  listing: boolean,
  listingLimits: optionGroup<Partial<PageLimits>>(limits),
  includeSchemas: names,
  excludeSchemas: names,
  includeNames: names,
  excludeNames: names,
  schemaSimilarTo: similarTo,
  schemaNotSimilarTo: similarTo,
  nameSimilarTo: similarTo,
  nameNotSimilarTo: similarTo,
};

const crudOptionsValidator: Validator<CrudOptions> = optionGroup(table);

const defaultLimits: PageLimits = { defaultLimit: 100, maxLimit: 1_000 };

/** @throws RangeError that names the option which cannot be */
export function resolveCrudOptions(options: CrudOptions): ResolvedCrudOptions {
  const faults = crudOptionsValidator.validate(options, '');
  if (faults.length > 0) throw new RangeError(`crudSource: ${faults.join('\n')}`);
  const { created, commentsMode, query, allowUnfilteredDelete, listing, listingLimits, crudTypes, ...rest } = options;
  return {
    ...rest,
    operations: operationsOf(crudTypes ?? 'all'),
    patterns: patternsOf(options),
    created: created ?? null,
    commentsMode: commentsMode ?? null,
    query: query?.trim() ? query : null,
    allowUnfilteredDelete: allowUnfilteredDelete ?? false,
    listing: listing ?? false,
    limits: limitsOf(listingLimits ?? {}),
  };
}

function operationsOf(types: CrudType | readonly CrudType[]): ReadonlySet<TableOperation> {
  const wanted = [types].flat();
  return new Set(tableOperations.filter((type) => wanted.includes('all') || wanted.includes(type)));
}

function patternsOf(options: CrudOptions): Readonly<Record<TableOperation, string>> {
  const returning = pattern(options, 'returningUrlPattern', '{0}/returning');
  return {
    select: '{0}',
    update: '{0}',
    updateReturning: returning,
    delete: '{0}',
    deleteReturning: returning,
    insert: '{0}',
    insertReturning: returning,
    insertOnConflictDoNothing: pattern(options, 'onConflictDoNothingUrlPattern', '{0}/on-conflict-do-nothing'),
    insertOnConflictDoNothingReturning: pattern(
      options,
      'onConflictDoNothingReturningUrlPattern',
      '{0}/on-conflict-do-nothing/returning',
    ),
    insertOnConflictDoUpdate: pattern(options, 'onConflictDoUpdateUrlPattern', '{0}/on-conflict-do-update'),
    insertOnConflictDoUpdateReturning: pattern(
      options,
      'onConflictDoUpdateReturningUrlPattern',
      '{0}/on-conflict-do-update/returning',
    ),
  };
}

type PatternName = Extract<keyof CrudOptions, `${string}UrlPattern`>;

function pattern(options: CrudOptions, name: PatternName, byDefault: string): string {
  const given = options[name] ?? byDefault;
  if (!given.includes('{0}'))
    throw new RangeError(`${name}: ${JSON.stringify(given)} lacks {0}, the path of the table`);
  return given;
}

function limitsOf(given: Partial<PageLimits>): PageLimits {
  const maxLimit = given.maxLimit ?? defaultLimits.maxLimit;
  const limits = { maxLimit, defaultLimit: given.defaultLimit ?? Math.min(defaultLimits.defaultLimit, maxLimit) };
  if (limits.defaultLimit > limits.maxLimit) {
    throw new RangeError(
      `listingLimits.defaultLimit: ${limits.defaultLimit} is more than maxLimit, ${limits.maxLimit}`,
    );
  }
  return limits;
}
