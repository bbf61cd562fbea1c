import type { ServerAddress } from './connection-parameters.ts';
import type { ConnectionSettings, TargetSessionAttributes } from './connection-string.ts';
import { ConnectionLost, DatabaseError } from './port.ts';

/** An attempt to connect: the server, and its required attributes. */
export interface ConnectionAttempt {
  readonly address: ServerAddress;
  readonly target: TargetSessionAttributes;
}

/**
 * Tries the servers of a connection string in order until one has the required attributes. As in libpq, a server that rejects the
 * user or lacks the database ends the search.
 * @throws the only failure, or a ConnectionLost with the messages of all
 */
export async function openFirstSuitable<Product>(
  connection: ConnectionSettings,
  open: (attempt: ConnectionAttempt) => Promise<Product>,
): Promise<Product> {
  const failures: Error[] = [];
  for (const attempt of listAttempts(connection)) {
    try {
      // In order: the next server is tried only after this one has failed.
      // oxlint-disable-next-line no-await-in-loop
      return await open(attempt);
    } catch (error) {
      if (!(error instanceof ConnectionLost) && !isTransient(error)) throw error;
      failures.push(error as Error);
    }
  }
  throw combineFailures(failures);
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
