import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import {
  type ServerAddress,
  parseServerAddresses,
  ConnectionStringError,
  type ConnectionParameters,
  parseKeyValueString,
  parseUrl,
} from './connection-parameters.ts';

export { ConnectionStringError } from './connection-parameters.ts';

/** The values of `target_session_attrs` in libpq. */
export type TargetSessionAttributes = 'any' | 'read-write' | 'read-only' | 'primary' | 'standby' | 'prefer-standby';

/** The parsed connection string. `pg` takes missing members from `PGHOST` and the other environment variables. */
export interface ConnectionSettings extends ServerAddress {
  /** The servers after the first one, in order. */
  readonly furtherServers?: readonly ServerAddress[];
  /** The required attributes of the server; absent: any. */
  readonly target?: TargetSessionAttributes;
  readonly database?: string;
  readonly user?: string;
  readonly password?: string;
  readonly applicationName?: string;
  /** Milliseconds. */
  readonly connectTimeout?: number;
  readonly poolSize?: number;
  readonly minPoolSize?: number;
  /** Milliseconds; 0 means no limit. */
  readonly connectionLifetime?: number;
  /** Milliseconds; 0 means no limit. */
  readonly connectionIdleLifetime?: number;
  readonly timeZone?: string;
  /** The `options` start-up parameter: `-c name=value …`. */
  readonly options?: string;
  readonly ssl: 'disable' | 'prefer' | ConnectionOptions;
}

type MutableSettings = { -readonly [name in keyof ConnectionSettings]: ConnectionSettings[name] };
type SslKey = 'sslmode' | 'sslrootcert' | 'sslcert' | 'sslkey' | 'sslpassword';
type Ssl = Partial<Record<SslKey, string>>;
/** Comma-separated lists. */
type ServerLists = { host?: string; port?: string };

/** The spellings of each keyword in URLs, libpq and ADO.NET strings, without case, spaces, `_` and `-`. */
const keys: Readonly<Record<string, Exclude<keyof ConnectionSettings, 'ssl' | 'furtherServers'> | SslKey>> = {
  host: 'host',
  hostaddr: 'host',
  server: 'host',
  port: 'port',
  dbname: 'database',
  database: 'database',
  db: 'database',
  user: 'user',
  username: 'user',
  userid: 'user',
  uid: 'user',
  password: 'password',
  pwd: 'password',
  applicationname: 'applicationName',
  connecttimeout: 'connectTimeout',
  timeout: 'connectTimeout',
  maximumpoolsize: 'poolSize',
  maxpoolsize: 'poolSize',
  minimumpoolsize: 'minPoolSize',
  minpoolsize: 'minPoolSize',
  connectionlifetime: 'connectionLifetime',
  connectionidlelifetime: 'connectionIdleLifetime',
  timezone: 'timeZone',
  options: 'options',
  targetsessionattrs: 'target',
  targetsessionattributes: 'target',
  ssl: 'sslmode',
  sslmode: 'sslmode',
  sslrootcert: 'sslrootcert',
  rootcertificate: 'sslrootcert',
  sslcert: 'sslcert',
  sslcertificate: 'sslcert',
  sslkey: 'sslkey',
  sslpassword: 'sslpassword',
};

/** Keywords of other drivers that have no effect here, for strings that are shared with them. */
const ignoredKeys = new Set([
  'pooling',
  'connectionpruninginterval',
  'commandtimeout',
  'keepalive',
  'includeerrordetail',
  'trustservercertificate',
  'channelbinding',
  'gssencmode',
  'clientencoding',
  'encoding',
  'fallbackapplicationname',
  'noresetonclose',
  'maxautoprepare',
  'persistsecurityinfo',
]);

/**
 * Reads a connection string: a URL (`postgres://user:password@host:5432/database?sslmode=require`), semicolon-separated
 * keys (`Host=localhost;Port=5432;Database=x;Username=y;Password=z`), or libpq's space-separated ones (`host=localhost
 * dbname=x`). Each may name several servers (`host=a,b port=5432,5433`, `postgres://a:5432,b:5433/x`).
 * @throws ConnectionStringError with the fault, never with the string itself
 */
export function parseConnectionString(text: string): ConnectionSettings {
  const trimmed = text.trim();
  if (trimmed === '') throw new ConnectionStringError('the connection string is empty');
  const pairs = /^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) ? parseUrl(trimmed) : parseKeyValueString(trimmed, isKnown);
  checkKeys(pairs);
  const settings: MutableSettings = { ssl: 'prefer' };
  const ssl: Ssl = {};
  const serverLists: ServerLists = {};
  for (const [key, value] of pairs) assign({ settings, ssl, serverLists }, key, value);
  const [first, ...further] = parseServerAddresses(serverLists.host, serverLists.port);
  Object.assign(settings, first);
  if (further.length > 0) settings.furtherServers = further;
  const remoteHost = [first!, ...further].find(({ host }) => host !== undefined && !isLocal(host));
  settings.ssl = readSslOptions(ssl, remoteHost?.host);
  return Object.freeze(settings);
}

function normalizeKey(key: string): string {
  return key.toLowerCase().replace(/[\s_-]/g, '');
}

function toKeyword(key: string): (typeof keys)[string] | undefined {
  const plain = normalizeKey(key);
  return Object.hasOwn(keys, plain) ? keys[plain] : undefined;
}

function isKnown(key: string): boolean {
  return toKeyword(key) !== undefined || ignoredKeys.has(normalizeKey(key));
}

function checkKeys(pairs: ConnectionParameters): void {
  const unknown = pairs.findIndex(([key]) => !isKnown(key));
  if (unknown === -1) return;
  const key = pairs[unknown]![0];
  const [before = '', value = ''] = pairs[unknown - 1] ?? [];
  // After a stray "=", ";" or "?" in a password, the key could be the rest of the password.
  const safe = toKeyword(before) !== 'password' && !/pass|pwd/i.test(value) && /^[a-z][a-z0-9 _-]*$/i.test(key);
  throw new ConnectionStringError(
    `the connection string has an unknown key${safe ? ` "${key}"` : ''}; remove it, or correct its name`,
  );
}

interface NumberRange {
  readonly min: number;
  readonly max: number;
  /** Converts seconds to milliseconds. */
  readonly factor?: number;
}

const lifetime: NumberRange = { min: 0, max: 2_000_000, factor: 1_000 };

const numbers = {
  poolSize: { min: 1, max: 10_000 },
  minPoolSize: { min: 0, max: 10_000 },
  connectTimeout: { min: 0, max: 86_400, factor: 1_000 },
  connectionLifetime: lifetime,
  connectionIdleLifetime: lifetime,
} satisfies Readonly<Record<string, NumberRange>>;

interface ParseState {
  readonly settings: MutableSettings;
  readonly ssl: Ssl;
  readonly serverLists: ServerLists;
}

function assign({ settings, ssl, serverLists }: ParseState, key: string, value: string): void {
  const keyword = toKeyword(key);
  if (keyword === undefined) return;
  if (isNumberKey(keyword)) {
    settings[keyword] = readNumber(key, value, numbers[keyword]);
    return;
  }
  switch (keyword) {
    case 'host':
    case 'port':
      serverLists[keyword] = value;
      return;
    case 'target':
      Object.assign(settings, sessionTarget(value));
      return;
    case 'sslmode':
    case 'sslrootcert':
    case 'sslcert':
    case 'sslkey':
    case 'sslpassword':
      ssl[keyword] = value;
      return;
    default:
      settings[keyword] = value;
  }
}

function isNumberKey(keyword: string): keyword is keyof typeof numbers {
  return Object.hasOwn(numbers, keyword);
}

function readNumber(key: string, value: string, { min, max, factor = 1 }: NumberRange): number {
  const number = /^\d+$/.test(value) ? Number(value) : Number.NaN;
  if (number >= min && number <= max) return number * factor;
  throw new ConnectionStringError(`${key} in the connection string must be a whole number from ${min} to ${max}`);
}

const targets: readonly TargetSessionAttributes[] = [
  'any',
  'read-write',
  'read-only',
  'primary',
  'standby',
  'prefer-standby',
];

function sessionTarget(text: string): Pick<ConnectionSettings, 'target'> {
  const target = targets.find((name) => normalizeKey(name) === normalizeKey(text));
  if (target !== undefined) return target === 'any' ? {} : { target };
  throw new ConnectionStringError(`target_session_attrs in the connection string is none of ${targets.join(', ')}`);
}

/** The values of `sslmode` in libpq and other drivers. */
const sslModes: Readonly<Record<string, 'disable' | 'prefer' | 'require' | 'verify-ca' | 'verify-full'>> = {
  disable: 'disable',
  false: 'disable',
  0: 'disable',
  allow: 'prefer',
  prefer: 'prefer',
  require: 'require',
  true: 'require',
  1: 'require',
  noverify: 'require',
  verifyca: 'verify-ca',
  verifyfull: 'verify-full',
};

/** Returns the TLS options. `prefer` is the default for remote servers: TLS if the server supports it. */
function readSslOptions(ssl: Ssl, remoteHost: string | undefined): ConnectionSettings['ssl'] {
  const mode = sslMode(ssl.sslmode, remoteHost);
  if (mode === 'disable' || mode === 'prefer') return mode;
  const files: ConnectionOptions = {
    ...(ssl.sslrootcert === undefined ? {} : { ca: readFile('sslrootcert', ssl.sslrootcert) }),
    ...(ssl.sslcert === undefined ? {} : { cert: readFile('sslcert', ssl.sslcert) }),
    ...(ssl.sslkey === undefined ? {} : { key: readFile('sslkey', ssl.sslkey) }),
    ...(ssl.sslpassword === undefined ? {} : { passphrase: ssl.sslpassword }),
  };
  if (mode === 'verify-full') return { ...files, rejectUnauthorized: true };
  // As in libpq, `require` checks the chain when a root certificate is given.
  if (mode === 'verify-ca' || files.ca !== undefined) return verifyChain(files);
  return { ...files, rejectUnauthorized: false };
}

function sslMode(text: string | undefined, remoteHost: string | undefined): (typeof sslModes)[string] {
  if (text === undefined || text === '') return remoteHost === undefined ? 'disable' : 'prefer';
  const plain = text.toLowerCase().replace(/[\s_-]/g, '');
  const mode = Object.hasOwn(sslModes, plain) ? sslModes[plain] : undefined;
  if (mode !== undefined) return mode;
  throw new ConnectionStringError(
    `sslmode "${text}" in the connection string is none of disable, allow, prefer, require, verify-ca, verify-full`,
  );
}

function verifyChain(files: ConnectionOptions): ConnectionOptions {
  return { ...files, rejectUnauthorized: true, checkServerIdentity: () => undefined };
}

function isLocal(host: string): boolean {
  return host.startsWith('/') || host === 'localhost' || host === '::1' || host.startsWith('127.');
}

function readFile(key: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new ConnectionStringError(`${key} in the connection string: the file ${path} cannot be read (${reason})`);
  }
}
