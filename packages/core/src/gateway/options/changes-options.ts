import { option, optionGroup, type OptionGroup } from '../../validation/option.ts';
import type { ChangeFeed } from '../../ports/changes.ts';
import { implementation, nullable, number, secret } from '../../validation/validators.ts';
import type { ChangesOptions } from './options.generated.ts';

export type { ChangesOptions } from './options.generated.ts';

export const changesOptions: OptionGroup<ChangesOptions> = optionGroup<ChangesOptions>(
  'ChangesOptions',
  'Streams of row changes, for tables and views with the annotation `changes`.',
  {
    connectionString: option(
      nullable(secret),
      null,
      'The connection that reads the log of the database, of a user with the attribute REPLICATION, and not through a pooler. Null: `listenConnectionString`, or else the main one.',
    ),
    feed: option(
      nullable(
        implementation<ChangeFeed>('ChangeFeed', '../../ports/changes.ts', [
          'subscribe',
          'watchTables',
          'statistics',
          'close',
        ]),
      ),
      null,
      'The changes of the main database, if another process reads its log. The gateway closes it. Null: the gateway reads the log.',
    ),
    window: option(
      number({ min: 0, max: 1 }),
      0.015,
      'Seconds between two reads of changed rows. Rows that change several times in between arrive once.',
    ),
    replaySeconds: option(
      number({ min: 0, max: 3_600 }),
      60,
      'Seconds that changes are kept for clients that reconnect.',
    ),
  },
);
