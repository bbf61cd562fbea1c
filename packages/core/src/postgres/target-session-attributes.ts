import type { ServerAddress } from './connection-parameters.ts';
import type { ConnectionSettings, TargetSessionAttributes } from './connection-string.ts';
import { ConnectionLost, DatabaseError } from './port.ts';

/** What is asked of the next server, and which one it is. */
export interface ConnectionAttempt {
  readonly address: ServerAddress;
  readonly target: TargetSessionAttributes;
}

/**
 * Tries the servers of a connection string in their order until one of them will do. As in libpq, a server that refuses the user or
 * does not have the database ends it: the others would be asked with the same words.
 * @throws the only failure there was, or one that tells all of them
 */
export async function openFirstSuitable<Product>(
  connection: ConnectionSettings,
  open: (attempt: ConnectionAttempt) => Promise<Product>,
): Promise<Product> {
  const failures: Error[] = [];
  for (const attempt of attemptsOf(connection)) {
    try {
      // One after the other: a later server is asked only when the one before it will not do.
      // oxlint-disable-next-line no-await-in-loop
      return await open(attempt);
    } catch (error) {
      if (!(error instanceof ConnectionLost) && !isTransient(error)) throw error;
      failures.push(error as Error);
    }
  }
  throw together(failures);
}

function attemptsOf({
  host,
  port,
  furtherServers = [],
  target = 'any',
}: ConnectionSettings): readonly ConnectionAttempt[] {
  const first = { ...(host === undefined ? {} : { host }), ...(port === undefined ? {} : { port }) };
  const addresses: readonly ServerAddress[] = [first, ...furtherServers];
  const targets: readonly TargetSessionAttributes[] = target === 'prefer-standby' ? ['standby', 'any'] : [target];
  return targets.flatMap((wanted) => addresses.map((address) => ({ address, target: wanted })));
}

/** A server that is starting is worth waiting for: its word goes before that of the others. */
function together(failures: readonly Error[]): Error {
  const transient = failures.find((failure) => isTransient(failure));
  if (failures.length === 1 || transient !== undefined) return transient ?? failures[0]!;
  const messages = [...new Set(failures.map(({ message }) => message))];
  return new ConnectionLost(messages.join('; '), { cause: new AggregateError(failures) });
}

/** The server is there and says that it will take connections soon: it is starting, or has none left for the moment. */
export function isTransient(error: unknown): boolean {
  return error instanceof DatabaseError && ['57P03', '53300'].includes(error.diagnostics.code);
}

/** What keeps a server from being the one that is looked for; null: nothing. */
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
      return isStandby ? null : 'the server is no standby';
    case 'any':
    case 'prefer-standby':
      return null;
  }
}
