import { option, optionGroup, type OptionGroup, requiredOption } from '../validation/option.ts';
import { arrayOf, boolean, nonEmptyString, union } from '../validation/validators.ts';
import type { SqlFilesOptions } from './options.generated.ts';

export type { SqlFilesOptions } from './options.generated.ts';

export const sqlFilesOptions: OptionGroup<SqlFilesOptions> = optionGroup<SqlFilesOptions>(
  'SqlFilesOptions',
  'SQL files as endpoints.',
  {
    files: requiredOption(
      union(nonEmptyString, arrayOf(nonEmptyString)),
      'Patterns of the SQL files that are endpoints, such as `api/**/*.sql`, below `folder`. A file needs an `HTTP` line in its comments; `*.test.sql` is never an endpoint.',
    ),
    folder: option(nonEmptyString, '.', 'The folder of the patterns.'),
    folderPaths: option(
      boolean,
      false,
      'Whether the folders of a file, below `folder`, are part of the path of its endpoint.',
    ),
  },
  { isPartial: true },
);
