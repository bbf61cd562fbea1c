import { ConnectionStringError } from './connection-pairs.ts';

/** Where one server is. Members that are left out are left to `pg`, which looks at `PGHOST` and `PGPORT`. */
export interface Address {
  readonly host?: string;
  readonly port?: number;
}

/**
 * The servers of a connection string, in its order: `a,b` with one port for both, with a list of as many ports
 * (`5432,5433`), or with the port at its host (`a:5432,b:5433`).
 * @throws ConnectionStringError for what is no host or port, or for lists of different lengths
 */
export function addressesOf(hosts: string | undefined, ports: string | undefined): readonly Address[] {
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

function addressOf(text: string, port: string, oneOfMany: boolean): Address {
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
