import { setTimeout as sleep } from 'node:timers/promises';
import {
  AcquireTimeout,
  ConnectionLost,
  type Database,
  DatabaseError,
  ConnectionSetupError,
} from '../postgres/port.ts';
import type { Observer } from '../ports/ports.ts';
import { StartError, toStartError } from './start-error.ts';

const oldestServer = 130_000;
const longestPause = 1_000;

/**
 * Meets every database: the gateway's own has to answer, those that comments may name may come later.
 * @param patience seconds to wait for the gateway's own
 * @throws StartError
 */
export async function checkServers(
  { main, named }: { readonly main: Database; readonly named: ReadonlyMap<string, Database> },
  patience: number,
  observe: Observer,
): Promise<void> {
  await firstContact(main, patience, observe);
  await contactNamed(named, observe);
}

/**
 * Asks the server who it is, and warns of a role that no rule of the database holds for.
 * @param connection its name, null for the main one
 * @param patience seconds to wait for a server that is still starting or cannot be reached yet
 * @throws StartError for a server that is too old
 */
async function firstContact(
  database: Database,
  patience: number,
  observe: Observer,
  connection: string | null = null,
): Promise<void> {
  const [number, version, role, isSuperuser, bypasses] = await greet(database, performance.now() + patience * 1_000);
  if (Number(number) < oldestServer) {
    throw new StartError(`the server is PostgreSQL ${version}; the gateway needs version 13 or newer`);
  }
  if (isSuperuser !== 't' && bypasses !== 't') return;
  const power = isSuperuser === 't' ? 'a superuser' : 'exempt from row-level security';
  const where = connection === null ? '' : ` on the connection "${connection}"`;
  const message = `the gateway signs in as ${role}${where}, which is ${power}: give it a role with the rights that it needs, and no more`;
  observe({ kind: 'start-warning', code: 'privileged-role', message });
}

/**
 * The same for the databases that comments may name. One that is away does not keep the others from being served: its own
 * endpoints answer 503 meanwhile.
 */
async function contactNamed(named: ReadonlyMap<string, Database>, observe: Observer): Promise<void> {
  const contacts = [...named].map(async ([name, database]) => {
    try {
      await firstContact(database, 0, observe, name);
    } catch (error) {
      if (error instanceof StartError) throw error;
      const message = `the connection "${name}" cannot be used yet: ${toStartError(error).message}`;
      observe({ kind: 'start-warning', code: 'connection-unavailable', message });
    }
  });
  await Promise.all(contacts);
}

async function greet(database: Database, until: number): Promise<readonly (string | null)[]> {
  for (let pause = 100; ; pause = Math.min(longestPause, pause * 2)) {
    try {
      // One attempt after the other is the point of it.
      // oxlint-disable-next-line no-await-in-loop
      const [row] = await database.query(
        `select pg_catalog.current_setting('server_version_num'), pg_catalog.current_setting('server_version'),
                rolname, rolsuper, rolbypassrls
         from pg_catalog.pg_roles where rolname operator(pg_catalog.=) current_user`,
      );
      return row ?? [];
    } catch (error) {
      if (!mayComeBack(error) || performance.now() + pause > until) throw error;
      // oxlint-disable-next-line no-await-in-loop
      await sleep(pause);
    }
  }
}

/** Not there, starting, or full: time helps. A refusal of the user or a callback of the host's stays what it is. */
function mayComeBack(error: unknown): boolean {
  if (error instanceof ConnectionSetupError) return false;
  if (error instanceof DatabaseError) return /^(57P|53300)/.test(error.diagnostics.code);
  return error instanceof ConnectionLost || error instanceof AcquireTimeout;
}
