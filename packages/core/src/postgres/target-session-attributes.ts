import { setTimeout as delay } from 'node:timers/promises';
import type { ServerAddress } from './connection-parameters.ts';
import type { ConnectionSettings, TargetSessionAttributes } from './connection-string.ts';
import { ConnectionLost, DatabaseError } from './port.ts';

/** An attempt to connect: the server, and its required attributes. */
export interface ConnectionAttempt {
  readonly address: ServerAddress;
  readonly target: TargetSessionAttributes;
}

/** Milliseconds that a server may take before the next one is tried as well, and between two rounds of attempts. */
const slowServerMs = 500;

/** How a connection to one server is opened, and closed when it is no longer needed. */
export interface ServerConnector<Product> {
  readonly open: (attempt: ConnectionAttempt) => Promise<Product>;
  readonly discard: (product: Product) => void;
}

/**
 * Tries the servers of a connection string in order until one has the required attributes. As in libpq, a server that rejects the
 * user or lacks the database ends the search. The only server that accepts writes is also found while an earlier one does not answer.
 * @throws the only failure, or a ConnectionLost with the messages of all
 */
export function openFirstSuitable<Product>(
  connection: ConnectionSettings,
  connector: ServerConnector<Product>,
): Promise<Product> {
  const attempts = listAttempts(connection);
  const isUnique = connection.target === 'read-write' || connection.target === 'primary';
  return isUnique && attempts.length > 1 ? openOnlySuitable(attempts, connector) : openInOrder(attempts, connector);
}

async function openInOrder<Product>(
  attempts: readonly ConnectionAttempt[],
  { open }: ServerConnector<Product>,
): Promise<Product> {
  const failures: Error[] = [];
  for (const attempt of attempts) {
    try {
      // In order: the next server is tried only after this one has failed.
      return await open(attempt);
    } catch (error) {
      if (endsSearch(error)) throw error;
      failures.push(error as Error);
    }
  }
  throw combineFailures(failures);
}

/**
 * Goes on to the next server while a slow one is pending, and asks the others again until it has failed too: one of them may become
 * the primary meanwhile.
 */
function openOnlySuitable<Product>(
  attempts: readonly ConnectionAttempt[],
  { open, discard }: ServerConnector<Product>,
): Promise<Product> {
  return new Promise((resolve, reject) => {
    const pending = new Map<ConnectionAttempt, Promise<void>>();
    const failures = new Map<ConnectionAttempt, Error>();
    let isDone = false;
    const settle = (act: () => void): void => {
      isDone = true;
      act();
    };
    const begin = (attempt: ConnectionAttempt): void => {
      const opened = open(attempt).then(
        (product) => (isDone ? discard(product) : settle(() => resolve(product))),
        (error: unknown) => {
          pending.delete(attempt);
          failures.set(attempt, error as Error);
          if (endsSearch(error) && !isDone) settle(() => reject(error as Error));
        },
      );
      pending.set(attempt, opened);
    };
    const search = async (): Promise<void> => {
      do {
        for (const attempt of attempts) {
          if (isDone) return;
          if (pending.has(attempt)) continue;
          begin(attempt);
          await Promise.race([pending.get(attempt), delay(slowServerMs)]);
        }
        if (!isDone && pending.size > 0) await Promise.race([...pending.values(), delay(slowServerMs)]);
      } while (!isDone && pending.size > 0);
      if (!isDone) settle(() => reject(combineFailures([...failures.values()])));
    };
    void search();
  });
}

function endsSearch(error: unknown): boolean {
  return !(error instanceof ConnectionLost) && !isTransient(error);
}

function listAttempts({
  host,
  port,
  furtherServers = [],
  target = 'any',
}: ConnectionSettings): readonly ConnectionAttempt[] {
  const first = { ...(host === undefined ? {} : { host }), ...(port === undefined ? {} : { port }) };
  const addresses: readonly ServerAddress[] = [first, ...furtherServers];
  const targets: readonly TargetSessionAttributes[] = target === 'prefer-standby' ? ['standby', 'any'] : [target];
  return targets.flatMap((required) => addresses.map((address) => ({ address, target: required })));
}

/** Combines failures. A transient one takes precedence: that server is worth waiting for. */
function combineFailures(failures: readonly Error[]): Error {
  const transient = failures.find((failure) => isTransient(failure));
  if (failures.length === 1 || transient !== undefined) return transient ?? failures[0]!;
  const messages = [...new Set(failures.map(({ message }) => message))];
  return new ConnectionLost(messages.join('; '), { cause: new AggregateError(failures) });
}

/** Returns whether the server reports that it is starting (57P03) or has no free connection (53300). */
export function isTransient(error: unknown): boolean {
  return error instanceof DatabaseError && ['57P03', '53300'].includes(error.diagnostics.code);
}

/** Returns why a server does not have the required attributes; null when it has. */
export function unsuitableReason(
  target: TargetSessionAttributes,
  isReadOnly: boolean,
  isStandby: boolean,
): string | null {
  switch (target) {
    case 'read-write':
      return isReadOnly ? 'the server is read-only' : null;
    case 'read-only':
      return isReadOnly ? null : 'the server is not read-only';
    case 'primary':
      return isStandby ? 'the server is a standby' : null;
    case 'standby':
      return isStandby ? null : 'the server is not a standby';
    case 'any':
    case 'prefer-standby':
      return null;
  }
}
