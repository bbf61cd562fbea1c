import {
  callback,
  flag,
  group,
  type Kind,
  listOf,
  name,
  nullable,
  oneOf,
  type OptionTable,
  or,
  text,
  whole,
} from '../validation/validators.ts';
import { type ListingLimits, tableOperations } from '../catalog/table.ts';
import type { CrudOptions } from './options.ts';

const crudType = oneOf(...tableOperations, 'all');
const names = nullable(listOf(name));
const pattern = nullable(text);

const limits: OptionTable<ListingLimits> = { defaultLimit: whole({ min: 1 }), maxLimit: whole({ min: 1 }) };

/** What every option of `crudSource` takes; the compiler holds it equal to the type of the options. */
const table: OptionTable<CrudOptions> = {
  crudTypes: or(crudType, listOf(crudType)),
  returningUrlPattern: text,
  onConflictDoNothingUrlPattern: text,
  onConflictDoNothingReturningUrlPattern: text,
  onConflictDoUpdateUrlPattern: text,
  onConflictDoUpdateReturningUrlPattern: text,
  created: nullable(callback()),
  commentsMode: nullable(oneOf('onlyWithHttpTag', 'parseAll', 'ignore')),
  query: nullable(text),
  allowUnfilteredDelete: flag,
  listing: flag,
  listingLimits: group<Partial<ListingLimits>>(limits),
  includeSchemas: names,
  excludeSchemas: names,
  includeNames: names,
  excludeNames: names,
  schemaSimilarTo: pattern,
  schemaNotSimilarTo: pattern,
  nameSimilarTo: pattern,
  nameNotSimilarTo: pattern,
};

export const crudOptions: Kind<CrudOptions> = group(table);
