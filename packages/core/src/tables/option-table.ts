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
import { type PageLimits, tableOperations } from '../catalog/table.ts';
import type { CrudOptions } from './crud-options.ts';

const crudType = oneOf(...tableOperations, 'all');
const names = nullable(arrayOf(nonEmptyString));
const pattern = nullable(string);

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
  schemaSimilarTo: pattern,
  schemaNotSimilarTo: pattern,
  nameSimilarTo: pattern,
  nameNotSimilarTo: pattern,
};

export const crudOptionsValidator: Validator<CrudOptions> = optionGroup(table);
