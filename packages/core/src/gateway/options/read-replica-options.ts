import { option, optionGroup, type OptionGroup } from '../../validation/option.ts';
import { arrayOf, number, oneOf, secret } from '../../validation/validators.ts';
import type { ReadReplicasOptions } from './options.generated.ts';

export type { ReadReplicasOptions } from './options.generated.ts';

export const readReplicasOptions: OptionGroup<ReadReplicasOptions> = optionGroup<ReadReplicasOptions>(
  'ReadReplicasOptions',
  'Streaming replicas of the main database that serve reads.',
  {
    connectionStrings: option(
      arrayOf(secret),
      [],
      'Streaming replicas of the database, which run calls that only read. Each host of a connection string is a replica.',
    ),
    maxLagSeconds: option(
      number({ min: 0.5, max: 86_400 }),
      5,
      'Seconds by which a replica may be behind the primary. One that is further behind, or whose lag is unknown because the primary does not answer, gets no calls.',
    ),
    consistency: option(
      oneOf('strong', 'eventual'),
      'eventual',
      'Where reads run whose comment has no `consistency`: on a replica (`eventual`), or on the primary (`strong`).',
    ),
  },
);
