import { z } from 'zod';

/** The gateway's options that say how it is connected, a part of its section. */
export const connections = {
  poolSize: z
    .int()
    .min(1)
    .max(10_000)
    .nullable()
    .default(null)
    .describe('Most connections to the database; null takes `Maximum Pool Size` of the connection string, else 10.'),
  acquireTimeout: z
    .number()
    .positive()
    .max(3_600)
    .default(5)
    .describe('Seconds that a request waits for a free connection before it is answered 503.'),
  pooler: z
    .enum(['session', 'transaction'])
    .default('session')
    .describe(
      'What stands between the gateway and the server: `transaction` for a pooler (PgBouncer) that gives a session for one transaction only, `session` for everything else.',
    ),
  preparedStatements: z
    .boolean()
    .default(true)
    .describe('Statements keep their names on the server; false for PgBouncer before 1.21 in transaction mode.'),
  startRetry: z
    .number()
    .min(0)
    .max(3_600)
    .default(0)
    .describe('Seconds that the start waits for a database that cannot be reached yet or is still starting.'),
  refreshOnNotify: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe('A channel of NOTIFY: what is notified there, as by an event trigger, reads the catalog again.'),
  listenConnectionString: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe('The connection to listen on, where the others lead to a pooler that cannot; null: the main one.'),
  shareConnections: z
    .boolean()
    .default(true)
    .describe('Short calls may share a busy connection, one after the other on the wire.'),
  connectionReset: z
    .enum(['auto', 'always', 'never'])
    .default('auto')
    .describe(
      'After which calls a connection is reset (DISCARD ALL): those of routines whose text may leave something in the session, all, or none.',
    ),
  connectionStrings: z
    .record(z.string(), z.string())
    .default({})
    .describe('Further databases, by the names that comments choose them with.'),
};
