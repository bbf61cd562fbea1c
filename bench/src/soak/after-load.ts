import { setTimeout as pause } from 'node:timers/promises';

import type { SoakCall, Client } from './client.ts';
import type { SoakDatabase } from './database.ts';
import { expectResponse } from './operations/operation.ts';
import { checkSession } from './operations/session-state.ts';

const timeoutMs = 20_000;
const pollMs = 20;
const lockKey = 12_321;
const sessionChecks = 60;

/** Checks that after the load no call runs or waits in the database, and no lock is held. */
export async function verifyIdle(client: Client, database: SoakDatabase): Promise<void> {
  const { violations } = client.context;
  const idle = await waitUntil(async () => (await findSessions(database, `state is distinct from 'idle'`)) === '');
  if (!idle) {
    violations.add(
      'connections',
      `busy after the load: ${await findSessions(database, `state is distinct from 'idle'`)}`,
    );
  }
  const holding = await findSessions(
    database,
    `exists (select from pg_locks l where l.pid = a.pid and locktype = 'advisory')`,
  );
  if (holding !== '') violations.add('session-state', `holding an advisory lock after the load: ${holding}`);
  await Promise.all(Array.from({ length: sessionChecks }, () => checkSession(client)));
}

/** Returns the sessions of the gateway that meet the SQL condition, as JSON; an empty text for none. */
async function findSessions(database: SoakDatabase, condition: string): Promise<string> {
  const rows = await database.query(
    `select state, wait_event, query from pg_stat_activity a
     where usename = $1 and datname = current_database() and ${condition}`,
    [database.roles.gateway],
  );
  return rows.length === 0 ? '' : JSON.stringify(rows);
}

/** The connections that the gateway reserves for calls that cannot block. */
const reservedConnections = (pool: number): number => (pool < 4 ? 0 : 1);

/** Checks that the pool has lost no connection: as many calls can run at once as it has connections for them. */
export async function verifyConnections(client: Client, database: SoakDatabase, pool: number): Promise<void> {
  const call: SoakCall = {
    operation: 'lock',
    user: client.users[0]!,
    line: 'POST /wait-for-lock',
    body: { key: lockKey },
  };
  const waiting = async (): Promise<number> => {
    const rows = await database.query<{ count: number }>(
      `select count(*)::int as count from pg_locks where locktype = 'advisory' and not granted and objid = $1`,
      [lockKey],
    );
    return rows[0]?.count ?? 0;
  };
  const release = await database.hold(lockKey);
  const calls: Promise<void>[] = [];
  const usable = pool - reservedConnections(pool);
  try {
    for (let count = 1; count <= usable; count++) {
      calls.push(client.call(call).then((outcome) => expectResponse(client, call, outcome, 'done')));
      // Sequential: each call must take another connection.
      if (await waitUntil(async () => (await waiting()) === count)) continue;
      client.context.violations.add('connections', `${count - 1} of ${usable} connections are free after the load`);
      break;
    }
  } finally {
    await release();
  }
  await Promise.all(calls);
}

async function waitUntil(condition: () => Promise<boolean>): Promise<boolean> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    if (await condition()) return true;
    if (performance.now() > end) return false;
    await pause(pollMs);
  }
}
