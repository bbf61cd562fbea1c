import { optionGroup, type OptionGroup, option, requiredOption } from '../../validation/option.ts';
import {
  boolean,
  callback,
  hidden,
  implementation,
  integer,
  nonEmptyString,
  nullable,
  number,
  oneOf,
  recordOf,
  secret,
  string,
} from '../../validation/validators.ts';
import type { DataSource } from '../../ports/ports.ts';
import type { GatewayConnectionOptions } from './options.generated.ts';

export type { GatewayConnectionOptions } from './options.generated.ts';

export const connectionOptions: OptionGroup<GatewayConnectionOptions> = optionGroup<GatewayConnectionOptions>(
  'GatewayConnectionOptions',
  'Connections to the databases.',
  {
    connectionString: requiredOption(
      // Empty with a data source.
      hidden(string),
      '`postgres://user:password@host:5432/database`, or `Host=…;Database=…`. Several hosts are separated by commas; `target_session_attrs` selects among them. Ignored with a `dataSource`.',
    ),
    connectionStrings: option(recordOf(secret), {}, 'Further databases, by the names that comments refer to.'),
    dataSource: option(
      nullable(implementation<DataSource>('DataSource', '../../ports/ports.ts', ['connect'])),
      null,
      'A `pg` pool of the host program that provides connections, up to `poolSize` at a time. The gateway returns each one to be closed, so that no session state reaches other users of the pool. The defaults of `minPoolSize` and `connectionIdleLifetime` are then 0 and 10. Null: the gateway opens connections itself.',
    ),
    connectionProvider: option(
      nullable(callback('ConnectionProvider', { ConnectionProvider: '../../ports/ports.ts' })),
      null,
      'Provides the connection for a request, which may be in a transaction of the host program; null: connections of the pool.',
    ),
    beforeConnectionOpen: option(
      nullable(
        callback('(configuration: ConnectionConfiguration, connection: string | null) => void | Promise<void>', {
          ConnectionConfiguration: '../../ports/ports.ts',
        }),
      ),
      null,
      'Called before each attempt to connect, with the name of the connection (null: the main one, or a read replica). May change the configuration, such as setting a fresh token as password. An error fails the attempt. Not called for a `dataSource`.',
    ),
    pooler: option(
      oneOf('session', 'transaction'),
      'session',
      '`transaction` behind a pooler in transaction mode (PgBouncer), where a session lasts for one transaction; `session` otherwise.',
    ),
    preparedStatements: option(
      boolean,
      true,
      'Uses named prepared statements; false for a pooler without them, such as PgBouncer before 1.21.',
    ),
    startRetry: option(
      number({ min: 0, max: 3600 }),
      0,
      'Seconds that the start waits for a database that is unreachable, is starting, or has no free connection, and for which it repeats a step whose connection was lost.',
    ),
    poolSize: option(
      nullable(integer({ min: 1, max: 10_000 })),
      null,
      'The maximum number of connections to each database; null: `Maximum Pool Size` of its connection string, or 10.',
    ),
    minPoolSize: option(
      nullable(integer({ min: 0, max: 10_000 })),
      null,
      'The number of connections to each database that stay open from the first call on, at most `poolSize`; null: `Minimum Pool Size` of its connection string, or 1.',
    ),
    connectionLifetime: option(
      nullable(number({ min: 0, max: 2_000_000 })),
      null,
      'Seconds after which a connection is replaced when its calls have ended, up to a tenth earlier; 0: never. Null: `Connection Lifetime` of the connection string, or 3,600.',
    ),
    connectionIdleLifetime: option(
      nullable(number({ min: 0, max: 2_000_000 })),
      null,
      'Seconds after which an unused connection above `minPoolSize` is closed; 0: never. Null: `Connection Idle Lifetime` of the connection string, or 300.',
    ),
    processes: option(
      integer({ min: 1, max: 10_000 }),
      1,
      'The number of processes of the host that serve this gateway together: each opens its share of `poolSize`, at least one connection.',
    ),
    acquireTimeout: option(
      number({ above: 0, max: 3600 }),
      5,
      'Seconds that a request waits for a free connection before it is answered 503.',
    ),
    maxWaitingCalls: option(
      integer({ min: 1, max: 1_000_000 }),
      10_000,
      'Maximum number of requests that wait for a connection to each database; a further one is answered 503 at once.',
    ),
    shareConnections: option(
      boolean,
      true,
      'Lets short calls share a busy connection (pipelining); each is a separate transaction.',
    ),
    connectionReset: option(
      oneOf('auto', 'always', 'never'),
      'auto',
      'When a connection is reset (DISCARD ALL), so that no session state of a routine reaches another caller: after calls of routines that may change the session by their definition or that of what they use (`auto`), after every call, or never.',
    ),
    refreshOnNotify: option(
      nullable(nonEmptyString),
      null,
      'A NOTIFY channel; a notification, for example by an event trigger, reloads the catalog.',
    ),
    listenConnectionString: option(
      nullable(secret),
      null,
      'The connection for LISTEN, where the main one leads to a pooler that does not support it; null: the main one.',
    ),
  },
);
