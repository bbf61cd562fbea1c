/** The parts of a connection that messages name. There is no password among them. */
export interface ConnectionName {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
}

/** Returns `host:port`, with brackets around an IPv6 address. */
export function serverText({ host, port }: ConnectionName): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Returns a URL of the connection without a password. */
export function connectionUrl({ host, port, database, user }: ConnectionName): string {
  const isSocket = host.startsWith('/');
  const server = isSocket ? '' : host.includes(':') ? `[${host}]:${port}` : `${encodeURIComponent(host)}:${port}`;
  const query = isSocket ? `?host=${encodeURIComponent(host)}&port=${port}` : '';
  const account = isSocket ? `&user=${encodeURIComponent(user)}` : '';
  return `postgres://${isSocket ? '' : `${encodeURIComponent(user)}@`}${server}/${encodeURIComponent(database)}${query}${account}`;
}
