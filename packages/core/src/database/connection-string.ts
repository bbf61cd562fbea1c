import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';

/** What a connection string says. Members that it leaves out are left to `pg`, which looks at `PGHOST` and its kin. */
export interface ConnectionSettings {
  readonly host?: string;
  readonly port?: number;
  readonly database?: string;
  readonly user?: string;
  readonly password?: string;
  readonly applicationName?: string;
  /** Milliseconds. */
  readonly connectTimeout?: number;
  readonly poolSize?: number;
  readonly timeZone?: string;
  /** The `options` start-up parameter: `-c name=value …`. */
  readonly options?: string;
  readonly ssl: 'disable' | 'prefer' | ConnectionOptions;
}

/** The connection string cannot be understood. The message never holds the string, which may hold a password. */
export class ConnectionStringError extends Error {
  override readonly name = 'ConnectionStringError';
}

type Draft = { -readonly [name in keyof ConnectionSettings]: ConnectionSettings[name] };
type SslKey = 'sslmode' | 'sslrootcert' | 'sslcert' | 'sslkey' | 'sslpassword';
type Ssl = Partial<Record<SslKey, string>>;
type Pairs = readonly (readonly [string, string])[];

/** Every spelling of a key, without case, spaces, `_` and `-`: those of URLs and libpq, and those of ADO-style strings. */
const keys: Readonly<Record<string, Exclude<keyof ConnectionSettings, 'ssl'> | SslKey>> = {
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
  timezone: 'timeZone',
  options: 'options',
  ssl: 'sslmode',
  sslmode: 'sslmode',
  sslrootcert: 'sslrootcert',
  rootcertificate: 'sslrootcert',
  sslcert: 'sslcert',
  sslcertificate: 'sslcert',
  sslkey: 'sslkey',
  sslpassword: 'sslpassword',
};

/** Keys of other drivers that change nothing here, and may stay in a string that is shared with them. */
const ignored = new Set([
  'pooling',
  'minimumpoolsize',
  'minpoolsize',
  'commandtimeout',
  'keepalive',
  'includeerrordetail',
  'trustservercertificate',
  'channelbinding',
  'gssencmode',
  'clientencoding',
  'encoding',
  'targetsessionattrs',
  'fallbackapplicationname',
  'noresetonclose',
  'maxautoprepare',
  'persistsecurityinfo',
]);

/**
 * Reads a connection string: a URL (`postgres://user:password@host:5432/database?sslmode=require`), semicolon-separated
 * keys (`Host=localhost;Port=5432;Database=x;Username=y;Password=z`), or libpq's space-separated ones (`host=localhost
 * dbname=x`).
 * @throws ConnectionStringError naming what is wrong, never the string itself
 */
export function parseConnectionString(text: string): ConnectionSettings {
  const trimmed = text.trim();
  if (trimmed === '') throw new ConnectionStringError('the connection string is empty');
  const pairs = /^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) ? pairsOfUrl(trimmed) : pairsOfKeys(trimmed);
  checkKeys(pairs);
  const settings: Draft = { ssl: 'prefer' };
  const ssl: Ssl = {};
  for (const [key, value] of pairs) assign(settings, ssl, key, value);
  settings.ssl = sslOf(ssl, settings.host);
  return Object.freeze(settings);
}

/** Case, spaces, `_` and `-` do not count. */
function plainOf(key: string): string {
  return key.toLowerCase().replace(/[\s_-]/g, '');
}

function targetOf(key: string): (typeof keys)[string] | undefined {
  const plain = plainOf(key);
  return Object.hasOwn(keys, plain) ? keys[plain] : undefined;
}

function checkKeys(pairs: Pairs): void {
  let before: string | undefined;
  for (const [key] of pairs) {
    const target = targetOf(key);
    if (target === undefined && !ignored.has(plainOf(key))) {
      // With a stray "=", ";" or "?" in a password, the rest of the password would stand here.
      const safe = before !== 'password' && /^[a-z][a-z0-9 _-]*$/i.test(key);
      throw new ConnectionStringError(`the connection string has an unknown key${safe ? ` "${key}"` : ''}`);
    }
    before = target;
  }
}

function assign(settings: Draft, ssl: Ssl, key: string, value: string): void {
  const target = targetOf(key);
  if (target === undefined) return;
  switch (target) {
    case 'port':
      settings.port = whole(key, value, 1, 65_535);
      return;
    case 'poolSize':
      settings.poolSize = whole(key, value, 1, 10_000);
      return;
    case 'connectTimeout':
      settings.connectTimeout = whole(key, value, 0, 86_400) * 1_000;
      return;
    case 'sslmode':
    case 'sslrootcert':
    case 'sslcert':
    case 'sslkey':
    case 'sslpassword':
      ssl[target] = value;
      return;
    default:
      settings[target] = value;
  }
}

function whole(key: string, value: string, least: number, most: number): number {
  const number = /^\d+$/.test(value) ? Number(value) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new ConnectionStringError(`${key} in the connection string must be a whole number from ${least} to ${most}`);
}

function pairsOfUrl(text: string): Pairs {
  if (!/^postgres(ql)?:/i.test(text)) {
    throw new ConnectionStringError('the connection string must begin with postgres:// or be made of key=value pairs');
  }
  // The last "@" ends the account, so that one in a password never turns the rest of it into a host.
  const match = /^[a-z]+:\/\/(?:([^/?#]*)@)?([^/?#]*)(?:\/([^?#]*))?(?:\?(.*))?$/i.exec(text);
  if (match === null) throw new ConnectionStringError('the connection string is not a valid URL');
  const [, account, address = '', database, query] = match;
  return [
    ...(account === undefined ? [] : pairsOfAccount(account)),
    ...pairsOfAddress(address),
    ...(database ? [['database', decode(database)] as const] : []),
    ...pairsOfQuery(query ?? ''),
  ];
}

/** `host`, `host:port`, `[::1]`, `[::1]:port`, `%2Fvar%2Frun%2Fpostgresql` or nothing. */
function pairsOfAddress(address: string): Pairs {
  const match = /^(?:\[([^[\]]*)\]|([^:,[\]]*))(?::(\d*))?$/.exec(address);
  // What stands here may be a piece of a password, and is not repeated.
  if (match === null) {
    throw new ConnectionStringError(
      'the connection string names no valid host and port: "@", ":", "/", "?" and "#" in a user name or password are written %40, %3A, %2F, %3F and %23, and there can be one host only',
    );
  }
  const [, literal, name, port] = match;
  const host = literal ?? decode(name ?? '');
  return [...(host === '' ? [] : [['host', host] as const]), ...(port ? [['port', port] as const] : [])];
}

/** As libpq reads it: percent-encoded, a "+" is a "+". */
function pairsOfQuery(query: string): Pairs {
  return query
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const equals = pair.indexOf('=');
      return equals === -1 ? [decode(pair), ''] : [decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))];
    });
}

function pairsOfAccount(account: string): Pairs {
  const colon = account.indexOf(':');
  const user = colon === -1 ? account : account.slice(0, colon);
  const pairs: [string, string][] = user === '' ? [] : [['user', decode(user)]];
  if (colon !== -1) pairs.push(['password', decode(account.slice(colon + 1))]);
  return pairs;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new ConnectionStringError('the connection string has a "%" that is not followed by two hexadecimal digits');
  }
}

/** `key=value` between semicolons, as ADO.NET writes it, or between spaces, as libpq does. */
function pairsOfKeys(text: string): Pairs {
  const unquoted = text.replace(/=\s*(?:'(?:[^'\\]|\\.)*'|"[^"]*")/g, '=');
  const bySemicolon = unquoted.includes(';') || !/\s\S+\s*=/.test(unquoted);
  return bySemicolon ? pairsBySemicolon(text) : pairsBySpace(text);
}

/** A value in single or double quotes holds its own quote doubled. */
function pairsBySemicolon(text: string): Pairs {
  const pattern = /\s*(?:([^=;]+?)\s*=\s*(?:'((?:[^']|'')*)'|"((?:[^"]|"")*)"|((?!['"])[^;]*?))\s*)?(?:;|$)/y;
  return allOf(pattern, text).map(([, key, single, double, bare]) => [
    key ?? '',
    single?.replaceAll("''", "'") ?? double?.replaceAll('""', '"') ?? bare ?? '',
  ]);
}

/** A value in single quotes; within and without, a backslash takes the next character as it is. */
function pairsBySpace(text: string): Pairs {
  const pattern = /\s*([^=\s]+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|((?!')(?:[^\s\\]|\\.)*))(?:\s+|$)/y;
  return allOf(pattern, text).map(([, key, quoted, bare]) => [
    key ?? '',
    (quoted ?? bare ?? '').replace(/\\(.)/g, '$1'),
  ]);
}

/** Every match with a key, one directly behind the other until the end. */
function allOf(pattern: RegExp, text: string): readonly RegExpExecArray[] {
  const matches: RegExpExecArray[] = [];
  while (pattern.lastIndex < text.length) {
    const match = pattern.exec(text);
    if (match === null) {
      throw new ConnectionStringError('the connection string is neither a postgres:// URL nor key=value pairs');
    }
    if (match[1] !== undefined) matches.push(match);
  }
  return matches;
}

/** libpq's modes, and what other drivers call them. */
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

/** `prefer` talks TLS when the server does; without a word it is chosen for other machines. */
function sslOf(ssl: Ssl, host: string | undefined): ConnectionSettings['ssl'] {
  const mode = sslMode(ssl.sslmode, host);
  if (mode === 'disable' || mode === 'prefer') return mode;
  const files: ConnectionOptions = {
    ...(ssl.sslrootcert === undefined ? {} : { ca: readFile('sslrootcert', ssl.sslrootcert) }),
    ...(ssl.sslcert === undefined ? {} : { cert: readFile('sslcert', ssl.sslcert) }),
    ...(ssl.sslkey === undefined ? {} : { key: readFile('sslkey', ssl.sslkey) }),
    ...(ssl.sslpassword === undefined ? {} : { passphrase: ssl.sslpassword }),
  };
  if (mode === 'verify-full') return { ...files, rejectUnauthorized: true };
  // As libpq: with a root certificate at hand, `require` checks the chain.
  if (mode === 'verify-ca' || files.ca !== undefined) return verifyChain(files);
  return { ...files, rejectUnauthorized: false };
}

function sslMode(text: string | undefined, host: string | undefined): (typeof sslModes)[string] {
  if (text === undefined || text === '') return host === undefined || isLocal(host) ? 'disable' : 'prefer';
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
