/** The keys and values of a connection string, in its order and as they are written. */
export type ConnectionParameters = readonly (readonly [string, string])[];

/** The connection string cannot be understood. The message never holds the string, which may hold a password. */
export class ConnectionStringError extends Error {
  override readonly name = 'ConnectionStringError';
}

const escaped = '"@", ":", "/", "?" and "#" in a user name or password are written %40, %3A, %2F, %3F and %23';

/** `postgres://user:password@host:5432/database?key=value`, also with several hosts between commas */
export function parseUrl(text: string): ConnectionParameters {
  if (!/^postgres(ql)?:/i.test(text)) {
    throw new ConnectionStringError('the connection string must begin with postgres:// or be made of key=value pairs');
  }
  // The last "@" ends the account, so that one in a password never turns the rest of it into a host.
  const match = /^[a-z]+:\/\/(?:([^/?#]*)@)?([^/?#]*)(?:\/([^?#]*))?(?:\?(.*))?$/i.exec(text);
  if (match === null) throw new ConnectionStringError(`the connection string is not a valid URL: ${escaped}`);
  const [, account, address = '', database, query] = match;
  // A "/" or "?" in a password has ended the address, and its first part would be taken for the host.
  if (account === undefined && `${database ?? ''}${query ?? ''}`.includes('@')) {
    throw new ConnectionStringError(`the connection string has an "@" behind its host: ${escaped}`);
  }
  return [
    ...(account === undefined ? [] : pairsOfAccount(account)),
    ...pairsOfAddress(address),
    ...(database ? [['database', decode(database)] as const] : []),
    ...pairsOfQuery(query ?? ''),
  ];
}

/** `host`, `host:port`, `[::1]`, `[::1]:port`, `%2Fvar%2Frun%2Fpostgresql`, several of them between commas, or nothing. */
function pairsOfAddress(address: string): ConnectionParameters {
  const parts = address.split(',').map((part) => {
    const match = /^(?:\[([^[\]]*)\]|([^:[\]]*))(?::(\d*))?$/.exec(part);
    // What stands here may be a piece of a password, and is not repeated.
    if (match === null) {
      throw new ConnectionStringError(`the connection string names no valid host and port: ${escaped}`);
    }
    const [, literal, name, port = ''] = match;
    return { host: literal ?? decode(name ?? ''), port };
  });
  const hosts = parts.map(({ host }) => host).join(',');
  const given = parts.some(({ port }) => port !== '');
  return [
    ...(hosts === '' ? [] : [['host', hosts] as const]),
    ...(given ? [['port', parts.map(({ port }) => port).join(',')] as const] : []),
  ];
}

/** As libpq reads it: percent-encoded, a "+" is a "+". */
function pairsOfQuery(query: string): ConnectionParameters {
  return query
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const equals = pair.indexOf('=');
      return equals === -1 ? [decode(pair), ''] : [decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))];
    });
}

function pairsOfAccount(account: string): ConnectionParameters {
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
    throw new ConnectionStringError(
      'the connection string has a "%" that is not followed by two hexadecimal digits: a "%" itself is written %25',
    );
  }
}

/**
 * `key=value` between semicolons, as ADO.NET writes it, or between spaces, as libpq does. What can be read as the latter,
 * without a semicolon or with keys that all are known, is.
 */
export function parseKeyValueString(text: string, isKnown: (key: string) => boolean): ConnectionParameters {
  const spaced = pairsBySpace(text);
  if (spaced !== null && (!text.includes(';') || spaced.every(([key]) => isKnown(key)))) return spaced;
  const pairs = pairsBySemicolon(text);
  if (pairs !== null) return pairs;
  throw new ConnectionStringError('the connection string is neither a postgres:// URL nor key=value pairs');
}

/** In single or double quotes, a value holds its own quote doubled. */
function pairsBySemicolon(text: string): ConnectionParameters | null {
  const pattern = /\s*(?:([^=;]+?)\s*=\s*(?:'((?:[^']|'')*)'|"((?:[^"]|"")*)"|((?!['"])[^;]*?))\s*)?(?:;|$)/y;
  const matches = allOf(pattern, text);
  if (matches === null) return null;
  return matches.map(([, key, single, double, bare]) => [
    key ?? '',
    single?.replaceAll("''", "'") ?? double?.replaceAll('""', '"') ?? bare ?? '',
  ]);
}

/** In single quotes and without, a backslash takes the next character as it is. */
function pairsBySpace(text: string): ConnectionParameters | null {
  const pattern = /\s*([^=\s;]+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|((?!')(?:[^\s\\;]|\\.)*))(?:\s+|$)/y;
  const matches = allOf(pattern, text);
  if (matches === null) return null;
  return matches.map(([, key, quoted, bare]) => [key ?? '', (quoted ?? bare ?? '').replace(/\\(.)/g, '$1')]);
}

/** Every match with a key, one directly behind the other until the end; null when they do not reach it. */
function allOf(pattern: RegExp, text: string): readonly RegExpExecArray[] | null {
  const matches: RegExpExecArray[] = [];
  while (pattern.lastIndex < text.length) {
    const match = pattern.exec(text);
    if (match === null) return null;
    if (match[1] !== undefined) matches.push(match);
  }
  return matches;
}

/** Where one server is. Members that are left out are left to `pg`, which looks at `PGHOST` and `PGPORT`. */
export interface ServerAddress {
  readonly host?: string;
  readonly port?: number;
}

/**
 * The servers of a connection string, in its order: `a,b` with one port for both, with a list of as many ports
 * (`5432,5433`), or with the port at its host (`a:5432,b:5433`).
 * @throws ConnectionStringError for what is no host or port, or for lists of different lengths
 */
export function parseServerAddresses(hosts: string | undefined, ports: string | undefined): readonly ServerAddress[] {
  const names = (hosts ?? '').split(',');
  const numbers = (ports ?? '').split(',');
  if (numbers.length > 1 && numbers.length !== names.length) {
    throw new ConnectionStringError(
      `the connection string gives ${numbers.length} ports for ${names.length} ${names.length === 1 ? 'host' : 'hosts'}`,
    );
  }
  const many = names.length > 1;
  return names.map((name, index) => addressOf(name.trim(), numbers[numbers.length > 1 ? index : 0]!.trim(), many));
}

function addressOf(text: string, port: string, oneOfMany: boolean): ServerAddress {
  const [, literal, name, ownPort] = /^(?:\[([^[\]]*)\]|([^:/]+))(?::(\d+))?$/.exec(text) ?? [];
  const host = literal ?? name ?? text;
  const number = ownPort ?? port;
  // It is shown in messages: what an unclosed quote drew into it is refused, not repeated.
  if (/[\s'"=@;]/.test(host) || (oneOfMany && host === '')) {
    throw new ConnectionStringError('the connection string names no valid host');
  }
  return { ...(host === '' ? {} : { host }), ...(number === '' ? {} : { port: portOf(number) }) };
}

function portOf(text: string): number {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (number >= 1 && number <= 65_535) return number;
  throw new ConnectionStringError('port in the connection string must be a whole number from 1 to 65535');
}
