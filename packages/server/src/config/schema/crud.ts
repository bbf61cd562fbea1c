import { z } from 'zod';
import { count, flag, optionalPattern, optionalTextList } from './fields.ts';

const crudTypes = [
  'select',
  'update',
  'updateReturning',
  'delete',
  'deleteReturning',
  'insert',
  'insertReturning',
  'insertOnConflictDoNothing',
  'insertOnConflictDoNothingReturning',
  'insertOnConflictDoUpdate',
  'insertOnConflictDoUpdateReturning',
  'all',
] as const;

const inherited = (description: string): string => `${description}; null: as in \`gateway\`.`;
const urlPattern = (byDefault: string, operation: string): z.ZodDefault<z.ZodString> =>
  z
    .string()
    .includes('{0}')
    .default(byDefault)
    .describe(`The path of ${operation}; \`{0}\` is replaced by the path of the table.`);

/** The section `crud`: tables and views as endpoints. */
export const crudSection = z
  .strictObject({
    enabled: z
      .boolean()
      .nullable()
      .default(null)
      .describe(
        'Publishes tables and views. Null: only those whose comment has an `HTTP` line, unless `gateway.commentsMode` is `ignore`. True: those that `commentsMode` selects. False: none.',
      ),
    routines: flag(true, 'Publishes routines as well; false: tables and views only.'),
    crudTypes: z
      .array(z.enum(crudTypes))
      .default(['all'])
      .describe('The operations to publish, where PostgreSQL supports them.'),
    commentsMode: z
      .enum(['ignore', 'parseAll', 'onlyWithHttpTag'])
      .nullable()
      .default(null)
      .describe('Which tables become endpoints; null: the value of `gateway.commentsMode`.'),
    includeSchemas: optionalTextList(inherited('Publish tables of these schemas only')),
    excludeSchemas: optionalTextList(inherited('Publish no table of these schemas')),
    includeNames: optionalTextList(inherited('Publish tables of these names only')),
    excludeNames: optionalTextList(inherited('Publish no table of these names')),
    schemaSimilarTo: optionalPattern(inherited('Publish only tables whose schema is `SIMILAR TO` this pattern')),
    schemaNotSimilarTo: optionalPattern(inherited('Publish no table whose schema is `SIMILAR TO` this pattern')),
    nameSimilarTo: optionalPattern(inherited('Publish only tables whose name is `SIMILAR TO` this pattern')),
    nameNotSimilarTo: optionalPattern(inherited('Publish no table whose name is `SIMILAR TO` this pattern')),
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
    query: z.string().nullable().default(null).describe('Replaces the query that lists tables and views.'),
    allowUnfilteredDelete: flag(
      false,
      'Allows a DELETE request without a filter, which deletes every row; false: only where the comment allows it.',
    ),
    allowMissingRow: flag(
      false,
      'Answers an update or delete by the complete key with 204 when no row has the key; false: with 404.',
    ),
    listing: flag(
      false,
      'Enables sorting, pagination, filter operators, counts and row versions for every table; false: where the comment says `listing`.',
    ),
    listingLimits: z
      .strictObject({
        defaultLimit: count(100, 'Rows in a page of a listing when the request sets no limit.'),
        maxLimit: count(1_000, 'Maximum rows in a page of a listing.'),
      })
      .prefault({})
      .describe('The size of pages of a listing.'),
    dialect: z
      .enum(['postgrest'])
      .nullable()
      .default(null)
      .describe(
        'The spelling of requests and responses: `postgrest` has that of PostgREST, at `postgrest.path`, in place of the endpoints of pgway; null: that of pgway.',
      ),
    postgrest: z
      .strictObject({
        path: z.string().min(1).default('/rest').describe('The path of the tables: `/rest` has `/rest/<table>`.'),
        allowUnfilteredUpdate: flag(false, 'Allows a PATCH request without a filter, which changes every row.'),
        allowRollback: flag(
          false,
          'Allows `Prefer: tx=rollback`, with which a client undoes its request, and with it what triggers have recorded.',
        ),
        allowAggregates: flag(
          false,
          'Allows aggregates in `select`, such as `amount.sum()`. They read all rows that meet the filters.',
        ),
      })
      .prefault({})
      .describe('The dialect `postgrest`.'),
  })
  .prefault({})
  .describe('Tables and views as endpoints (CRUD).');
