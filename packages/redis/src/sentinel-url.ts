/** User and password of a server. */
interface Credentials {
  readonly username?: string;
  readonly password?: string;
}

/** A primary that Redis Sentinel watches. */
export interface SentinelAddress {
  readonly sentinels: readonly { readonly host: string; readonly port: number }[];
  /** The name of the primary in the configuration of the Sentinels. */
  readonly name: string;
  readonly tls: boolean;
  readonly server: Credentials & { readonly database?: number };
  readonly sentinel: Credentials;
}

const defaultPort = 26_379;
/** The user info ends at the last "@", so that an unescaped one in a password never makes the rest a host. */
const pattern = /^(rediss?)-sentinel:\/\/(?:(.*)@)?([^/?#@]+)\/([^/?#@]+)(?:\/(\d+))?(?:\?([^#@]*))?$/i;
const form = 'redis-sentinel://user:password@host:26379,host:26379/name';

/**
 * Parses `redis-sentinel://user:password@host:26379,host:26379/name/0?sentinelUser=…&sentinelPassword=…`, or `rediss-sentinel://…` for
 * TLS. The port, the user info, the database and the query are optional.
 * @returns null for a URL of another scheme
 * @throws TypeError, without the URL: it may hold a password
 */
export function parseSentinelUrl(url: string): SentinelAddress | null {
  if (!/^rediss?-sentinel:/i.test(url)) return null;
  const match = pattern.exec(url);
  if (match === null) throw new TypeError(`the URL of Redis Sentinel is invalid; write it as ${form}`);
  const [, scheme, userInfo = '', hosts, name, database, query = ''] = match;
  const colon = userInfo.indexOf(':');
  const [user, password] = colon === -1 ? [userInfo, ''] : [userInfo.slice(0, colon), userInfo.slice(colon + 1)];
  const parameters = new URLSearchParams(query.replaceAll('+', '%2B'));
  for (const key of parameters.keys()) {
    if (key === 'sentinelUser' || key === 'sentinelPassword') continue;
    throw new TypeError(
      `the URL of Redis Sentinel has the unknown parameter ${JSON.stringify(key)}; sentinelUser and sentinelPassword are possible`,
    );
  }
  return {
    sentinels: hosts!.split(',').map(parseServer),
    name: decode(name!),
    tls: scheme!.toLowerCase() === 'rediss',
    server: {
      ...credentials(decode(user!), decode(password!)),
      ...(database === undefined ? {} : { database: Number(database) }),
    },
    sentinel: credentials(parameters.get('sentinelUser') ?? '', parameters.get('sentinelPassword') ?? ''),
  };
}

function credentials(username: string, password: string): Credentials {
  return { ...(username === '' ? {} : { username }), ...(password === '' ? {} : { password }) };
}

function parseServer(text: string): SentinelAddress['sentinels'][number] {
  const address = URL.canParse(`redis://${text}`) ? new URL(`redis://${text}`) : null;
  if (address === null || address.hostname === '') {
    throw new TypeError(`the URL of Redis Sentinel has an invalid host or port; write it as ${form}`);
  }
  const host = address.hostname.replace(/^\[(.*)\]$/, '$1');
  return { host, port: address.port === '' ? defaultPort : Number(address.port) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new TypeError('the URL of Redis Sentinel has a "%" without two hexadecimal digits; write "%" as %25');
  }
}
