import { Client, type LoadContext } from './client.ts';
import { CounterOperations } from './operations/cache.ts';
import { errors } from './operations/errors.ts';
import { events } from './operations/events.ts';
import { disconnects } from './operations/disconnects.ts';
import type { Operation } from './operations/operation.ts';
import { privileges } from './operations/privileges.ts';
import { reads } from './operations/reads.ts';
import { sessionStates } from './operations/session-state.ts';
import type { ItemOperations } from './operations/tables.ts';
import { writes } from './operations/writes.ts';
import { Random } from './random.ts';
import { login, type User } from './users.ts';

/** Returns clients, each with a user of every role. Logins are sequential: a concurrent login counts as a failed attempt. */
export async function createClients(load: LoadContext, count: number, seed: number): Promise<readonly Client[]> {
  const { reader, writer, admin } = load.roles;
  const clients: Client[] = [];
  for (let index = 0; index < count; index++) {
    const users: User[] = [];
    for (const [number, role] of [reader, writer, admin].entries()) {
      users.push(await login(load.http.origin, `user-${index}-${number}`, role));
    }
    clients.push(new Client(index, load, new Random(seed * 1000 + index), users));
  }
  return clients;
}

export interface LoadBounds {
  readonly requests: number;
  /** `performance.now()` at which no further request is sent. */
  readonly end: number;
  readonly signal: AbortSignal;
}

/** Lets every client run operations until a limit is reached. */
export async function runLoad(clients: readonly Client[], items: ItemOperations, bounds: LoadBounds): Promise<void> {
  const operations = [
    ...reads,
    ...writes,
    ...errors,
    ...privileges,
    ...items.operations(),
    ...new CounterOperations().operations(),
    ...events,
    ...disconnects,
    ...sessionStates,
  ];
  const choose = weightedChoice(operations);
  const isOver = ({ context: load }: Client): boolean =>
    load.statistics.requests >= bounds.requests || performance.now() > bounds.end || bounds.signal.aborted;
  await Promise.all(
    clients.map(async (client) => {
      while (!isOver(client)) await choose(client.random).run(client);
    }),
  );
}

function weightedChoice(operations: readonly Operation[]): (random: Random) => Operation {
  const total = operations.reduce((sum, { weight }) => sum + weight, 0);
  return (random) => {
    let rest = random.next() * total;
    return operations.find(({ weight }) => (rest -= weight) < 0) ?? operations[0]!;
  };
}
