import { z } from 'zod';
import { logLevels, type LogSource } from '../../log/log-level.ts';
import { count, flag, optionalText, secret, optionalTextList } from './fields.ts';

const sourceLines: Readonly<Record<LogSource, string>> = {
  start: 'start and stop, endpoints, and comments with errors',
  request: 'failed requests; `debug` has refused ones too',
  access: 'requests: the access log',
  command: 'commands (`gateway.logCommands`)',
  notice: 'notices of routines',
  database: 'connections and refreshes',
  auth: 'authentication; `debug` has refused tokens',
  upload: 'uploads',
  cache: 'the response cache',
  events: 'event streams and messages between instances',
};

type SourceLevel = z.ZodDefault<z.ZodNullable<z.ZodEnum<{ [Level in (typeof logLevels)[number]]: Level }>>>;

function sourceLevel(source: LogSource): SourceLevel {
  return z.enum(logLevels).nullable().default(null).describe(`The lowest level of lines about ${sourceLines[source]}.`);
}

const levels = z
  .strictObject({
    start: sourceLevel('start'),
    request: sourceLevel('request'),
    access: sourceLevel('access'),
    command: sourceLevel('command'),
    notice: sourceLevel('notice'),
    database: sourceLevel('database'),
    auth: sourceLevel('auth'),
    upload: sourceLevel('upload'),
    cache: sourceLevel('cache'),
    events: sourceLevel('events'),
  })
  .prefault({})
  .describe(
    'Levels of single sources, in place of the levels of console, file and database, unless these are `silent`. Null: those levels.',
  );

const access = z
  .strictObject({
    enabled: flag(true, 'Writes a line of level `info` for each request when its response has ended.'),
    skipPaths: optionalTextList(
      'Paths whose requests have no line and are not tracked; null: those of health checks, metrics, and files of the start page.',
    ),
  })
  .prefault({})
  .describe('The access log: method, path, status, duration, database time, rows, bytes, user, request id, address.');

const level = z.enum(logLevels).default('info').describe('The lowest level of lines to write; `silent`: none.');

const file = z
  .strictObject({
    path: optionalText(
      'The file, relative to the working directory, such as `logs/pgway.log`; null: none. It has JSON lines. Its folder is created.',
    ),
    level,
    maxSize: z
      .int()
      .min(1024)
      .max(1_099_511_627_776)
      .default(10_485_760)
      .describe('Bytes after which a new file is begun, and the old one becomes `pgway.log.1`.'),
    interval: z
      .enum(['hour', 'day'])
      .nullable()
      .default(null)
      .describe('Begins a new file at every full hour, or at midnight, too; null: by size only.'),
    maxFiles: count(10, 'Number of old files to keep.', 1000),
  })
  .prefault({})
  .describe('The log in files.');

const maxQueued = count(
  10_000,
  'Number of lines that may wait while the database is slow or unavailable; beyond it, the oldest are dropped and counted on standard error.',
);

const connectionString = (): z.ZodDefault<z.ZodNullable<z.ZodString>> =>
  secret(optionalText('The database; null: that of the gateway.'));

const database = z
  .strictObject({
    command: optionalText(
      'A command that runs for each line, such as `insert into log (line) values ($1::jsonb)`; null: none. `$1` is the line as JSON.',
    ),
    level,
    connectionString: connectionString(),
    maxQueued,
  })
  .prefault({})
  .describe('The log in the database. Lines are written in batches, on a connection of their own.');

/** The section `log`. */
export const logSection = z
  .strictObject({
    level: z.enum(logLevels).default('info').describe('The lowest level of lines on standard output.'),
    format: z
      .enum(['pretty', 'json'])
      .default('pretty')
      .describe('Readable lines, with the table of endpoints at the start, or one JSON object per line.'),
    levels,
    access,
    file,
    database,
  })
  .prefault({})
  .describe('The log on standard output, in files and in the database.');

/** The section `requestTracking`. */
export const requestTrackingSection = z
  .strictObject({
    command: optionalText(
      'A command that runs for each request, such as `select track($1, $2, $3, $4)`; null: none. `$1` method, `$2` path, `$3` status, `$4` duration in milliseconds, `$5` user, `$6` address, `$7` endpoint, `$8` request id, `$9` time, `$10` milliseconds in the database.',
    ),
    connectionString: connectionString(),
    maxQueued,
  })
  .prefault({})
  .describe('Request tracking: a command of the database for each request, in batches after the responses.');
