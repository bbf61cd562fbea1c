import type { Connections } from './connections.ts';
import type { EventsOptions } from './options/event-options.ts';
import type { HeaderList } from '../http/response.ts';
import type { AccessControl } from '../auth/authorize.ts';
import type { DatabaseRole } from '../auth/context.ts';
import type { StreamDefinition } from '../events/stream.ts';
import { EventStreams } from '../events/event-streams.ts';
import type { Broadcast, Observer } from '../ports/ports.ts';
import type { TokenEncryption } from '../auth-schemes/keys/key-ring.ts';
import { localBroadcast } from '../broadcast/topic-listeners.ts';
import { postgresBroadcast } from '../broadcast/postgres-broadcast.ts';
import { encryptedBroadcast } from '../broadcast/encrypted-broadcast.ts';
import { OptionsError, StartError } from './start-error.ts';
import { NotificationChannels } from './notification-channels.ts';
import { RoutinePrivileges } from './routine-privileges.ts';

/** The event streams, their notification channels, and the broadcast to other instances. */
export interface Events {
  readonly streams: EventStreams;
  readonly broadcast: Broadcast;
  /**
   * Takes the streams of the endpoints just loaded. Resolves when all channels are listened to, or after 5 s.
   * @throws StartError without a connection to listen on
   */
  update(definitions: Iterable<StreamDefinition>): Promise<void>;
  close(): Promise<void>;
}

/** The parts of authentication that event streams use. */
interface StreamAuthentication {
  readonly access: AccessControl;
  /** Null: calls run under the role of the connection. */
  readonly databaseRole: DatabaseRole | null;
  /** Keys shared with the other instances, which seal broadcast events; null: events are not sealed. */
  readonly sharedEncryption: TokenEncryption | null;
}

/** @throws StartError for a broadcast that cannot be opened, or a header that cannot be sent */
export async function openEvents(
  options: EventsOptions,
  { access, databaseRole, sharedEncryption }: StreamAuthentication,
  connections: Connections,
  observe: Observer,
): Promise<Events> {
  const headers = streamHeaders(options);
  const transport = await openBroadcast(options, connections, observe);
  const refused = (count: number): void => observe({ kind: 'broadcast-messages-rejected', count });
  const broadcast =
    sharedEncryption === null || transport === localBroadcast || transport.isPrivate === true
      ? transport
      : encryptedBroadcast(transport, { encryption: sharedEncryption, onRejected: refused });
  const { replayEvents, replaySeconds, replayBytes } = options;
  const streams = new EventStreams({
    access,
    privileges: databaseRole === null ? null : new RoutinePrivileges(connections, databaseRole),
    broadcast,
    observe,
    headers,
    heartbeat: options.heartbeat * 1_000,
    limits: {
      all: options.maxStreams,
      perUser: options.maxStreamsPerUser,
      perAddress: options.maxStreamsPerAddress,
    },
    replay: { events: replayEvents, age: replaySeconds * 1_000, bytes: replayBytes },
    maxQueuedBytes: options.maxQueuedBytes,
  });
  await streams.open();
  const channels = new NotificationChannels(connections, streams, observe);
  return {
    streams,
    broadcast,
    update: (definitions) => {
      const distinct = [...new Set(definitions)];
      streams.update(distinct);
      return channels.update(distinct);
    },
    close: async () => {
      channels.close();
      streams.close();
      await broadcast.close();
    },
  };
}

async function openBroadcast(
  { broadcast, broadcastChannel: channel }: EventsOptions,
  connections: Connections,
  observe: Observer,
): Promise<Broadcast> {
  const report = (error: Error | null): void =>
    observe(error === null ? { kind: 'broadcast-available' } : { kind: 'broadcast-unavailable', error });
  try {
    if (broadcast === 'local') return localBroadcast;
    if (broadcast !== 'postgres') {
      await broadcast.open?.(report);
      return broadcast;
    }
    const { listen, notifyDatabase } = connections;
    return await postgresBroadcast({
      channel,
      listen,
      query: (sql, values) => notifyDatabase().query(sql, values),
      onHealthChange: report,
    });
  } catch (error) {
    const name = broadcast === 'postgres' ? ' postgres' : '';
    throw new StartError(`events.broadcast${name}: ${(error as Error).message}`, { cause: error });
  }
}

/** A field name and a field value (RFC 9110, section 5). */
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const fieldValue = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

function streamHeaders({ customServerSentEventsResponseHeaders: custom }: EventsOptions): HeaderList {
  const headers = new Map([
    ['cache-control', 'no-store'],
    ['x-accel-buffering', 'no'],
  ]);
  for (const [name, value] of Object.entries(custom)) {
    if (!token.test(name) || !fieldValue.test(value)) {
      throw new OptionsError(
        `events.customServerSentEventsResponseHeaders: "${name}" is not a valid header; use a token as its name and printable characters in its value`,
      );
    }
    headers.set(name.toLowerCase(), value);
  }
  headers.delete('content-type');
  return Object.freeze(['content-type', 'text/event-stream', ...[...headers].flat()]);
}
