/** Selects the connection: that of the command line, of the environment or of the settings files. */
import { userInfo } from 'node:os';
import { type ConnectionSettings, ConnectionStringError, parseConnectionString } from '@pgway/core/connection';
import { UsageError } from '../process/errors.ts';
import { nearest } from '../process/nearest.ts';
import type { Environment } from '../process/process-context.ts';
import type { ConnectionName } from './connection-name.ts';
import type { Settings } from './settings.ts';

export interface SelectedConnection {
  /** The source, such as `"shop" of pgscout.json`. */
  readonly origin: string;
  readonly settings: ConnectionSettings;
}

/**
 * Returns the selected connection, completed by the PG* variables; null when no source names one.
 * @throws UsageError for an unknown name, an ambiguous choice or an invalid connection string
 */
export function selectConnection(
  selected: string | null,
  settings: Settings,
  environment: Environment,
): SelectedConnection | null {
  if (selected !== null) return fromCommandLine(selected, settings, environment);
  const databaseUrl = environment['DATABASE_URL'] ?? '';
  if (databaseUrl !== '') return parsed(databaseUrl, 'DATABASE_URL', environment);
  const name = defaultName(settings);
  if (name !== null) return named(name, settings, environment);
  const variables = ['PGHOST', 'PGPORT', 'PGDATABASE'].filter((variable) => (environment[variable] ?? '') !== '');
  return variables.length === 0 ? null : parsed('postgres:///', variables.join(', '), environment);
}

function fromCommandLine(text: string, settings: Settings, environment: Environment): SelectedConnection {
  if (settings.connections.has(text)) return named(text, settings, environment);
  if (text.includes('=') || text.includes('://')) return parsed(text, 'the command line', environment);
  // Other text may be a mistyped connection string with a password.
  const quoted = /^[\p{L}\d_. -]{1,63}$/u.test(text) ? ` ${JSON.stringify(text)}` : '';
  throw new UsageError(`no connection${quoted} in the settings files${knownNames(text, settings)}`);
}

function knownNames(text: string, { connections }: Settings): string {
  const names = [...connections.keys()];
  const near = nearest(text, names);
  if (near !== '') return near;
  return names.length === 0 ? '; pass a connection string' : `; they name ${names.join(', ')}`;
}

/** Returns the configured name, or the only one. */
function defaultName({ connections, defaultConnection }: Settings): string | null {
  if (defaultConnection !== null) return defaultConnection;
  const [name, ...others] = connections.keys();
  if (name === undefined) return null;
  if (others.length === 0) return name;
  throw new UsageError(
    `the settings files name several connections; pass one of them as --connection=<name>: ${[name, ...others].join(', ')}`,
  );
}

function named(name: string, settings: Settings, environment: Environment): SelectedConnection {
  const connection = settings.connections.get(name);
  if (connection === undefined) {
    throw new UsageError(
      `pgscout.json: Connection names ${JSON.stringify(name)}, which no settings file has${knownNames(name, settings)}`,
    );
  }
  const origin = `${JSON.stringify(name)} of ${connection.file}`;
  return parsed(substitute(connection.text, origin, environment), origin, environment);
}

const reference = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::([^}]*))?\}/g;

/** Replaces `${NAME}` and `${NAME:default}`, as in `pgway.json`. */
function substitute(text: string, origin: string, environment: Environment): string {
  return text.replace(reference, (_, name: string, byDefault: string | undefined) => {
    const value = environment[name];
    if (byDefault !== undefined) return value === undefined || value === '' ? byDefault : value;
    if (value !== undefined) return value;
    throw new UsageError(`the connection ${origin} refers to the environment variable ${name}, which is not set`);
  });
}

function parsed(text: string, origin: string, environment: Environment): SelectedConnection {
  try {
    const settings = parseConnectionString(text);
    const variables = parseConnectionString(variablesUrl(settings, environment));
    // A host of the variables decides about TLS, unless the connection string does.
    const ssl = /ssl/i.test(text) ? settings.ssl : variables.ssl;
    return { origin, settings: { ...variables, ...settings, ssl } };
  } catch (error) {
    if (error instanceof ConnectionStringError) throw new UsageError(`${origin}: ${error.message}`);
    throw error;
  }
}

const variableKeys: Readonly<Record<string, string>> = {
  PGHOST: 'host',
  PGPORT: 'port',
  PGDATABASE: 'dbname',
  PGUSER: 'user',
  PGPASSWORD: 'password',
  PGSSLMODE: 'sslmode',
  PGOPTIONS: 'options',
};

/** A server of the connection string has its own port: PGPORT is that of PGHOST. */
function variablesUrl({ host }: ConnectionSettings, environment: Environment): string {
  const values = Object.entries(variableKeys).flatMap(([variable, key]) => {
    const value = environment[variable] ?? '';
    return value === '' || (key === 'host' && host !== undefined) ? [] : [[key, value] as const];
  });
  const all = host === undefined ? values : [['host', host] as const, ...values];
  return `postgres:///?${all.map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join('&')}`;
}

/** Returns the parts of a connection, with the defaults of `libpq`. */
export function connectionName(settings: ConnectionSettings): ConnectionName {
  const user = settings.user ?? userInfo().username;
  return {
    host: settings.host ?? 'localhost',
    port: settings.port ?? 5432,
    database: settings.database ?? user,
    user,
  };
}
