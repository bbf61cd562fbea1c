import { option, optionGroup, type OptionGroup } from '../../validation/option.ts';
import { integer, nonEmptyString, nullable } from '../../validation/validators.ts';
import type { BatchOptions } from './options.generated.ts';

export type { BatchOptions } from './options.generated.ts';

export const batchOptions: OptionGroup<BatchOptions> = optionGroup<BatchOptions>(
  'BatchOptions',
  'Batches: several requests in one transaction.',
  {
    batchPath: option(
      nullable(nonEmptyString),
      null,
      'The path that takes several requests for one transaction, such as `/api/batch`; null: none.',
    ),
    maxBatchItems: option(integer({ min: 1, max: 10_000 }), 100, 'Maximum number of requests in a batch.'),
    maxBatchResponseSize: option(
      integer({ min: 1, max: 1_073_741_824 }),
      8 * 1024 * 1024,
      'Maximum bytes of all responses of a batch; a larger one is rolled back and answered 400.',
    ),
  },
);
