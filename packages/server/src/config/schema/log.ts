import { integer, mapOf, nullable, oneOf, option } from '@pgway/core/internal';
import { count, optionalSecret, optionalText, optionalTextList } from './fields.ts';
import { section } from './section.ts';

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;

/** The lowest level of lines that are written; `silent`: none. */
export type LogLevel = (typeof logLevels)[number];

/** The parts of the server that write log lines. */
export const logSources = [
  'start',
  'request',
  'access',
  'command',
  'notice',
  'database',
  'auth',
  'upload',
  'cache',
  'events',
] as const;

export type LogSource = (typeof logSources)[number];

const level = oneOf(...logLevels);

/** What the lines of each source are about. */
const sources: Readonly<Record<LogSource, string>> = {
  start: 'start and stop, endpoints, and comments with errors',
  request: 'failed requests (with `debug`, refused ones too)',
  access: 'requests, which is the access log',
  command: 'commands, with `gateway.logCommands`',
  notice: 'notices of routines',
  database: 'connections and refreshes',
  auth: 'authentication (with `debug`, refused tokens)',
  upload: 'uploads',
  cache: 'the response cache',
  events: 'event streams and messages between instances',
};

const levels = option(
  mapOf(oneOf(...logSources), level),
  {},
  `Levels of single sources, in place of those of console, file and database, unless these are \`silent\`, as in \`{ "auth": "debug" }\`. ${sourceLines()}.`,
);

/** Returns the sources with what their lines are about. */
function sourceLines(): string {
  return Object.entries(sources)
    .map(([source, lines]) => `\`${source}\`: ${lines}`)
    .join('. ');
}

const access = section(
  'The access log, a line of level `info` for each request when its response has ended, unless `log.levels` has a higher one for `access`: method, path, status, duration, database time, rows, bytes, user, request id, address.',
  {
    skipPaths: optionalTextList(
      'Paths whose requests have no line and are not tracked; null: those of health checks, metrics, and files of the start page.',
    ),
  },
);

const lowestLevel = option(level, 'info', 'The lowest level of lines to write; `silent`: none.');

const file = section('The log in files.', {
  path: optionalText(
    'The file, relative to the working directory, such as `logs/pgway.log`; null: none. It has JSON lines. Its folder is created.',
  ),
  level: lowestLevel,
  maxSize: option(
    integer({ min: 1024, max: 1_099_511_627_776 }),
    10_485_760,
    'Bytes after which a new file is begun, and the old one becomes `pgway.log.1`.',
  ),
  interval: option(
    nullable(oneOf('hour', 'day')),
    null,
    'Begins a new file at every full hour, or at midnight, too; null: by size only.',
  ),
  maxFiles: count(10, 'Number of old files to keep.', 1000),
});

const database = section('The log in the database. Lines are written in batches, on a connection of their own.', {
  command: optionalText(
    'A command that runs for each line, such as `insert into log (line) values ($1::jsonb)`; null: none. `$1` is the line as JSON.',
  ),
  level: lowestLevel,
  connectionString: optionalSecret('The database of these lines and of `requestTracking`; null: that of the gateway.'),
});

export const logSection = section('The log on standard output, in files and in the database.', {
  level: option(level, 'info', 'The lowest level of lines on standard output.'),
  format: option(
    oneOf('pretty', 'json'),
    'pretty',
    'Readable lines, with the table of endpoints at the start, or one JSON object per line.',
  ),
  levels,
  access,
  file,
  database,
});

export const requestTrackingSection = section(
  'Request tracking: a command of the database for each request, in batches after the responses.',
  {
    command: optionalText(
      'A command that runs for each request, such as `select track($1, $2, $3, $4)`; null: none. `$1` method, `$2` path, `$3` status, `$4` duration in milliseconds, `$5` user, `$6` address, `$7` endpoint, `$8` request id, `$9` time, `$10` milliseconds in the database.',
    ),
  },
);
