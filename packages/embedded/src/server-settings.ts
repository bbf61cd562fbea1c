import { PostgresServerError } from './embedded-error.ts';
import { OUR_MARK } from './previous-server.ts';

/** What is not for the caller to set, because the launcher depends on it. */
const OURS: readonly string[] = [
  // Only this machine, only with the password, no socket in a folder where others could put theirs.
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  OUR_MARK,
  // Why a start failed is read from the log.
  'lc_messages=C',
];

const NOT_DURABLE: readonly string[] = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];

/** The settings for the command line (`-c` each), without the port. */
export function serverSettings(
  durable: boolean,
  settings: Readonly<Record<string, string>> | undefined,
): readonly string[] {
  const reserved = new Set([...OURS.map((line) => line.split('=')[0]), 'port', 'data_directory']);
  const wanted = Object.entries(settings ?? {}).map(([name, value]) => {
    if (!/^[a-z_][a-z0-9_.]*$/i.test(name)) {
      throw new PostgresServerError(`"${name}" is no name of a PostgreSQL setting: see SHOW ALL for the names`);
    }
    if (reserved.has(name.toLowerCase())) {
      throw new PostgresServerError(`the PostgreSQL setting "${name}" belongs to pgway here: leave it out`);
    }
    return `${name}=${value}`;
  });
  return Object.freeze([...(durable ? [] : NOT_DURABLE), ...wanted, ...OURS]);
}
