/** The keywords and values of a connection string, unchanged and in order. */
export type ConnectionParameters = readonly (readonly [string, string])[];

/** An invalid connection string. The message never contains the string, which may hold a password. */
export class ConnectionStringError extends Error {
  override readonly name = 'ConnectionStringError';
}

const escapeHint = 'write "@", ":", "/", "?" and "#" in a user name or password as %40, %3A, %2F, %3F and %23';

/** Parses `postgres://user:password@host:5432/database?key=value`, also with several comma-separated hosts. */
export function parseUrl(text: string): ConnectionParameters {
  if (!/^postgres(ql)?:/i.test(text)) {
    throw new ConnectionStringError('the connection string must begin with postgres:// or consist of key=value pairs');
  }
  // The last "@" ends the user info, so that an "@" in a password never makes the rest a host.
  const match = /^[a-z]+:\/\/(?:([^/?#]*)@)?([^/?#]*)(?:\/([^?#]*))?(?:\?(.*))?$/i.exec(text);
  if (match === null) throw new ConnectionStringError(`the connection string is not a valid URL; ${escapeHint}`);
  const [, userInfo, address = '', database, query] = match;
  // An unescaped "/" or "?" in a password: its first part would be used as the host.
  if (userInfo === undefined && `${database ?? ''}${query ?? ''}`.includes('@')) {
    throw new ConnectionStringError(`the connection string has an "@" after its host; ${escapeHint}`);
  }
  return [
    ...(userInfo === undefined ? [] : parseUserInfo(userInfo)),
    ...parseHostList(address),
    ...(database ? [['database', decode(database)] as const] : []),
    ...parseQuery(query ?? ''),
  ];
}

/** Parses `host`, `host:port`, `[::1]`, `[::1]:port`, `%2Fvar%2Frun%2Fpostgresql`, a comma-separated list, or nothing. */
function parseHostList(address: string): ConnectionParameters {
  const parts = address.split(',').map((part) => {
    const match = /^(?:\[([^[\]]*)\]|([^:[\]]*))(?::(\d*))?$/.exec(part);
    // The text may be part of a password: it is not quoted.
    if (match === null) {
      throw new ConnectionStringError(`the host or port in the connection string is invalid; ${escapeHint}`);
    }
    const [, literal, name, port = ''] = match;
    return { host: literal ?? decode(name ?? ''), port };
  });
  const hosts = parts.map(({ host }) => host).join(',');
  const hasPort = parts.some(({ port }) => port !== '');
  return [
    ...(hosts === '' ? [] : [['host', hosts] as const]),
    ...(hasPort ? [['port', parts.map(({ port }) => port).join(',')] as const] : []),
  ];
}

/** Parses the query as libpq does: percent-encoded, with a literal "+". */
function parseQuery(query: string): ConnectionParameters {
  return query
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const equals = pair.indexOf('=');
      return equals === -1 ? [decode(pair), ''] : [decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))];
    });
}

function parseUserInfo(userInfo: string): ConnectionParameters {
  const colon = userInfo.indexOf(':');
  const user = colon === -1 ? userInfo : userInfo.slice(0, colon);
  const pairs: [string, string][] = user === '' ? [] : [['user', decode(user)]];
  if (colon !== -1) pairs.push(['password', decode(userInfo.slice(colon + 1))]);
  return pairs;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new ConnectionStringError(
      'the connection string has a "%" without two hexadecimal digits; write a literal "%" as %25',
    );
  }
}

/**
 * Parses `key=value` pairs separated by spaces (libpq) or semicolons (ADO.NET). The libpq form wins when it matches and the text has
 * no semicolon or only known keys.
 */
export function parseKeyValueString(text: string, isKnown: (key: string) => boolean): ConnectionParameters {
  const spaced = parseSpaceSeparated(text);
  if (spaced !== null && (!text.includes(';') || spaced.every(([key]) => isKnown(key)))) return spaced;
  const pairs = parseSemicolonSeparated(text);
  if (pairs !== null) return pairs;
  throw new ConnectionStringError(
    'the connection string is neither a postgres:// URL nor key=value pairs; write it as postgres://user:password@host:5432/database',
  );
}

/** Parses semicolon-separated pairs. A quote inside a quoted value is doubled. */
function parseSemicolonSeparated(text: string): ConnectionParameters | null {
  const pattern = /\s*(?:([^=;]+?)\s*=\s*(?:'((?:[^']|'')*)'|"((?:[^"]|"")*)"|((?!['"])[^;]*?))\s*)?(?:;|$)/y;
  const matches = matchAll(pattern, text);
  if (matches === null) return null;
  return matches.map(([, key, single, double, bare]) => [
    key ?? '',
    single?.replaceAll("''", "'") ?? double?.replaceAll('""', '"') ?? bare ?? '',
  ]);
}

/** Parses space-separated pairs. A backslash escapes the next character, with and without single quotes. */
function parseSpaceSeparated(text: string): ConnectionParameters | null {
  const pattern = /\s*([^=\s;]+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|((?!')(?:[^\s\\;]|\\.)*))(?:\s+|$)/y;
  const matches = matchAll(pattern, text);
  if (matches === null) return null;
  return matches.map(([, key, quoted, bare]) => [key ?? '', (quoted ?? bare ?? '').replace(/\\(.)/g, '$1')]);
}

/** Returns all contiguous matches with a key; null when they do not reach the end. */
function matchAll(pattern: RegExp, text: string): readonly RegExpExecArray[] | null {
  const matches: RegExpExecArray[] = [];
  while (pattern.lastIndex < text.length) {
    const match = pattern.exec(text);
    if (match === null) return null;
    if (match[1] !== undefined) matches.push(match);
  }
  return matches;
}

/** Host and port of a server. `pg` takes missing members from `PGHOST` and `PGPORT`. */
export interface ServerAddress {
  readonly host?: string;
  readonly port?: number;
}

/**
 * Parses the servers of a connection string, in order: `a,b` with one port, with as many ports (`5432,5433`), or with the
 * port after each host (`a:5432,b:5433`).
 * @throws ConnectionStringError for an invalid host or port, or for lists of different lengths
 */
export function parseServerAddresses(hosts: string | undefined, ports: string | undefined): readonly ServerAddress[] {
  const names = (hosts ?? '').split(',');
  const numbers = (ports ?? '').split(',');
  if (numbers.length > 1 && numbers.length !== names.length) {
    throw new ConnectionStringError(
      `the connection string gives ${numbers.length} ports for ${names.length} ${names.length === 1 ? 'host' : 'hosts'}`,
    );
  }
  const isList = names.length > 1;
  return names.map((name, index) =>
    parseServerAddress(name.trim(), numbers[numbers.length > 1 ? index : 0]!.trim(), isList),
  );
}

function parseServerAddress(text: string, port: string, isList: boolean): ServerAddress {
  const [, literal, name, portAfterHost] = /^(?:\[([^[\]]*)\]|([^:/]+))(?::(\d+))?$/.exec(text) ?? [];
  const host = literal ?? name ?? text;
  const number = portAfterHost ?? port;
  // Messages show the host: text after an unclosed quote could be a password and is rejected.
  if (/[\s'"=@;]/.test(host) || (isList && host === '')) {
    throw new ConnectionStringError('the host in the connection string is invalid');
  }
  return { ...(host === '' ? {} : { host }), ...(number === '' ? {} : { port: parsePort(number) }) };
}

function parsePort(text: string): number {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (number >= 1 && number <= 65_535) return number;
  throw new ConnectionStringError('port in the connection string must be a whole number from 1 to 65535');
}
