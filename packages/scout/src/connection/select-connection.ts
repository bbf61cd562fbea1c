/** Selects the connection: that of the command line, of the environment or of the settings files. */
import { userInfo } from 'node:os';
import { type ConnectionSettings, ConnectionStringError, parseConnectionString } from '@pgway/core/connection';
import { UsageError } from '../process/errors.ts';
import { nearest } from '../process/nearest.ts';
import type { Environment } from '../process/process-context.ts';
import type { ConnectionName } from './connection-name.ts';
import { serviceUrl, takeService } from './service-file.ts';
import type { Settings } from './settings.ts';

export interface SelectedConnection {
  /** The source, such as `"shop" of pgscout.json`. */
  readonly origin: string;
  readonly settings: ConnectionSettings;
}

/** The options of PostgreSQL's tools: `-h`, `-p`, `-d` and `-U`. */
export type ConnectionParts = Readonly<Partial<Record<'host' | 'port' | 'dbname' | 'username', string>>>;

/**
 * Returns the selected connection, completed by the PG* variables; null when no source names one.
 * @throws UsageError for an unknown name, an ambiguous choice or an invalid connection string
 */
export function selectConnection(
  selected: string | null,
  settings: Settings,
  environment: Environment,
  parts: ConnectionParts = {},
): SelectedConnection | null {
  if (selected !== null) return withParts(fromCommandLine(selected, settings, environment), parts);
  // As with psql, settings files have no part in these.
  if (Object.keys(parts).length > 0) return fromParts(parts, environment);
  if ((environment['PGSERVICE'] ?? '') !== '') return parsed('postgres:///', 'PGSERVICE', environment);
  const databaseUrl = environment['DATABASE_URL'] ?? '';
  if (databaseUrl !== '') return parsed(databaseUrl, 'DATABASE_URL', environment);
  const name = defaultName(settings);
  if (name !== null) return named(name, settings, environment);
  const variables = ['PGHOST', 'PGPORT', 'PGDATABASE'].filter((variable) => (environment[variable] ?? '') !== '');
  return variables.length === 0 ? null : parsed('postgres:///', variables.join(', '), environment);
}

const partKeys = { host: 'host', port: 'port', dbname: 'dbname', username: 'user' } as const;

function partsUrl(parts: ConnectionParts): string {
  const pairs = Object.entries(parts).map(
    ([name, value]) => `${partKeys[name as keyof ConnectionParts]}=${encodeURIComponent(value)}`,
  );
  return `postgres:///?${pairs.join('&')}`;
}

/** A database can be a whole connection string, as with psql. */
function fromParts({ dbname = '', ...others }: ConnectionParts, environment: Environment): SelectedConnection {
  const isString = dbname.includes('=') || dbname.includes('://');
  const parts = { ...others, ...(isString || dbname === '' ? {} : { dbname }) };
  const variables = { ...environment };
  const names = { host: 'PGHOST', port: 'PGPORT', dbname: 'PGDATABASE', username: 'PGUSER' } as const;
  // The port of PGPORT is that of -h, too.
  if (!isString)
    for (const [name, value] of Object.entries(parts)) variables[names[name as keyof typeof names]] = value;
  const selected = parsed(isString ? dbname : 'postgres:///', 'the command line', variables);
  return withParts(selected, parts);
}

/** Another server replaces all servers of the connection. */
function withParts(selected: SelectedConnection, parts: ConnectionParts): SelectedConnection {
  if (Object.keys(parts).length === 0) return selected;
  try {
    const { ssl, ...own } = parseConnectionString(partsUrl(parts));
    const { furtherServers, ...former } = selected.settings;
    const isSame = parts.host === undefined && parts.port === undefined;
    const settings = { ...former, ...(isSame && furtherServers !== undefined ? { furtherServers } : {}), ...own };
    // TLS by default for a remote server.
    const changesTls = own.host !== undefined && former.ssl === 'disable' && ssl === 'prefer';
    return { ...selected, settings: changesTls ? { ...settings, ssl } : settings };
  } catch (error) {
    if (error instanceof ConnectionStringError) throw new UsageError(`the command line: ${error.message}`);
    throw error;
  }
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
    const { text: own, service } = takeService(text);
    const name = service ?? (environment['PGSERVICE'] || null);
    const url = name === null ? null : serviceUrl(name, environment);
    const settings = withService(own, url);
    const variables = parseConnectionString(variablesUrl(settings, environment));
    // A host of the variables decides about TLS, unless the connection string does.
    const ssl = /ssl/i.test(`${own}${url ?? ''}`) ? settings.ssl : variables.ssl;
    return { origin, settings: { ...variables, ...settings, ssl } };
  } catch (error) {
    if (error instanceof ConnectionStringError) throw new UsageError(`${origin}: ${error.message}`);
    throw error;
  }
}

/** The connection string precedes the service, and its host all hosts of the service. */
function withService(text: string, url: string | null): ConnectionSettings {
  const own = parseConnectionString(text);
  if (url === null) return own;
  const { furtherServers, ...service } = parseConnectionString(url);
  const further = own.host === undefined && furtherServers !== undefined ? { furtherServers } : {};
  return { ...service, ...further, ...own, ssl: /ssl/i.test(text) ? own.ssl : service.ssl };
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
