import type { ConnectionParts } from '../connection/select-connection.ts';

/** The table of options: arguments, help and completion are derived from it. */
export type OptionName =
  | 'connection'
  | 'json'
  | 'no-owner'
  | 'no-grants'
  | 'output'
  | 'yes'
  | 'regex'
  | 'full'
  | 'all'
  | 'scratch'
  | 'exit-code'
  | 'single-transaction'
  | 'exclude'
  | 'kinds'
  | 'no-drops'
  | 'online'
  | 'rename'
  | 'role'
  | 'ignore'
  | 'host'
  | 'port'
  | 'dbname'
  | 'username';

export interface Option {
  readonly short: string | null;
  /** The name of its value; null: a flag. */
  readonly value: string | null;
  readonly description: string;
}

export const options: Readonly<Record<OptionName, Option>> = {
  connection: {
    short: 'c',
    value: 'connection',
    description: 'a name of the settings files, a key-value string or a URL',
  },
  dbname: { short: 'd', value: 'database', description: 'the database, or a connection string' },
  host: { short: 'h', value: 'host', description: 'the server, as with psql' },
  port: { short: 'p', value: 'port', description: 'its port' },
  username: { short: 'U', value: 'user', description: 'the user' },
  json: { short: null, value: null, description: 'print JSON' },
  output: { short: null, value: 'file', description: 'write to this file' },
  yes: { short: null, value: null, description: 'do not ask' },
  regex: { short: null, value: null, description: 'the expression is a regular expression' },
  full: { short: null, value: null, description: 'print whole definitions, not only the lines' },
  scratch: { short: null, value: 'connection', description: 'load files on this server, not on an embedded one' },
  'exit-code': { short: null, value: null, description: 'end with 3 when there are differences, or findings' },
  'single-transaction': { short: null, value: null, description: 'run all scripts in one transaction' },
  exclude: { short: null, value: 'name;…', description: 'leave out these objects; * and ? are wildcards' },
  kinds: { short: null, value: 'kind,…', description: 'only objects of these kinds, such as table,view' },
  'no-drops': { short: null, value: null, description: 'drop nothing that the other schema does not have' },
  online: { short: null, value: null, description: 'in steps that block other sessions for a moment only' },
  rename: { short: null, value: 'old=new;…', description: 'rename these, such as shop.film=movie' },
  role: { short: null, value: 'name;…', description: 'the database roles that calls run under' },
  ignore: { short: null, value: 'code name;…', description: 'leave out these findings, of all or one object' },
  all: { short: null, value: null, description: 'also routines without an endpoint, with the reason' },
  'no-owner': { short: null, value: null, description: 'definitions without owners' },
  'no-grants': { short: null, value: null, description: 'definitions without privileges' },
};

/** The exit code of `--exit-code`. 1 is a failure, and 2 a wrong command line. */
export const findingsCode = 3;

/** The options of each command that connects. */
export const connectionParts = ['host', 'port', 'dbname', 'username'] as const;

export function selectedParts(selected: ReadonlyMap<OptionName, string>): ConnectionParts {
  return Object.fromEntries(
    connectionParts.flatMap((name) => (selected.has(name) ? [[name, selected.get(name)]] : [])),
  );
}

/** Returns the folder of `--output`: the steps of `--online` are files of it, unless one file or JSON is asked for. */
export function outputFolder(selected: ReadonlyMap<OptionName, string>): string | null {
  const path = selected.get('output');
  if (path === undefined || !selected.has('online') || selected.has('json')) return null;
  return path.toLowerCase().endsWith('.sql') ? null : path;
}
