import { z } from 'zod';

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

const names = (what: string): z.ZodDefault<z.ZodNullable<z.ZodArray<z.ZodString>>> =>
  z.array(z.string()).nullable().default(null).describe(`${what}; null: as in \`gateway\`.`);
const similar = (what: string): z.ZodDefault<z.ZodNullable<z.ZodString>> =>
  z.string().nullable().default(null).describe(`${what}; null: as in \`gateway\`.`);
const urlPattern = (fallback: string, what: string): z.ZodDefault<z.ZodString> =>
  z
    .string()
    .includes('{0}')
    .default(fallback)
    .describe(`The path of ${what}; \`{0}\` stands for the path of the table.`);
const rows = (fallback: number, what: string): z.ZodDefault<z.ZodNumber> =>
  z.int().min(1).max(1_000_000).default(fallback).describe(what);

/** The section `crud`: tables and views as endpoints. */
export const crud = z
  .strictObject({
    enabled: z
      .boolean()
      .default(false)
      .describe('Publishes tables and views too: as with routines, those whose comment has an `HTTP` line.'),
    routines: z.boolean().default(true).describe('Publishes routines as well; false: tables and views only.'),
    crudTypes: z
      .array(z.enum(crudTypes))
      .default(['all'])
      .describe('Which operations there are, where PostgreSQL can do them.'),
    commentsMode: z
      .enum(['ignore', 'parseAll', 'onlyWithHttpTag'])
      .nullable()
      .default(null)
      .describe('Which tables become endpoints; null: as `gateway.commentsMode` says for routines.'),
    includeSchemas: names('Publish tables of these schemas only'),
    excludeSchemas: names('Publish no table of these schemas'),
    includeNames: names('Publish tables of these names only'),
    excludeNames: names('Publish no table of these names'),
    schemaSimilarTo: similar('Publish only tables whose schema is `SIMILAR TO` this pattern'),
    schemaNotSimilarTo: similar('Publish no table whose schema is `SIMILAR TO` this pattern'),
    nameSimilarTo: similar('Publish only tables whose name is `SIMILAR TO` this pattern'),
    nameNotSimilarTo: similar('Publish no table whose name is `SIMILAR TO` this pattern'),
    returningUrlPattern: urlPattern('{0}/returning', 'operations that answer with the rows'),
    onConflictDoNothingUrlPattern: urlPattern(
      '{0}/on-conflict-do-nothing',
      'an insert that leaves a row that is there',
    ),
    onConflictDoNothingReturningUrlPattern: urlPattern(
      '{0}/on-conflict-do-nothing/returning',
      'the same with the rows',
    ),
    onConflictDoUpdateUrlPattern: urlPattern('{0}/on-conflict-do-update', 'an insert that updates a row that is there'),
    onConflictDoUpdateReturningUrlPattern: urlPattern('{0}/on-conflict-do-update/returning', 'the same with the rows'),
    query: z.string().nullable().default(null).describe('Replaces the query that lists tables and views.'),
    allowUnfilteredDelete: z
      .boolean()
      .default(false)
      .describe(
        'A delete without any condition deletes every row; otherwise it is refused unless the comment allows it.',
      ),
    listing: z
      .boolean()
      .default(false)
      .describe(
        'Order, pages, operators, counts and versions for every table; otherwise where a comment says `listing`.',
      ),
    listingDefaultLimit: rows(100, 'Rows in one answer of a listing when the client says nothing.'),
    listingMaxLimit: rows(1_000, 'The most rows that a client may ask a listing for.'),
  })
  .prefault({})
  .describe('Tables and views as endpoints.');
