import { option, optionGroup, type OptionGroup } from '../validation/option.ts';
import { arrayOf, nonEmptyString, nullable, string } from '../validation/validators.ts';
import type { Filters } from './options.generated.ts';

export type { Filters } from './options.generated.ts';

const names = nullable(arrayOf(nonEmptyString));
const pattern = nullable(string);

export const filterOptions: OptionGroup<Filters> = optionGroup<Filters>(
  'Filters',
  'Filters on names; a null or empty member has no effect. Patterns are those of SIMILAR TO.',
  {
    includeSchemas: option(names, null, 'Publish routines of these schemas only.'),
    excludeSchemas: option(names, null, 'Publish no routine of these schemas.'),
    includeNames: option(names, null, 'Publish routines of these names only.'),
    excludeNames: option(names, null, 'Publish no routine of these names.'),
    schemaSimilarTo: option(
      pattern,
      null,
      'Publish only routines whose schema is `SIMILAR TO` this pattern, for example `app_%`.',
    ),
    schemaNotSimilarTo: option(pattern, null, 'Publish no routine whose schema is `SIMILAR TO` this pattern.'),
    nameSimilarTo: option(pattern, null, 'Publish only routines whose name is `SIMILAR TO` this pattern.'),
    nameNotSimilarTo: option(pattern, null, 'Publish no routine whose name is `SIMILAR TO` this pattern.'),
  },
  { isPartial: true },
);
