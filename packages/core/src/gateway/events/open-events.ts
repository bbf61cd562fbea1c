import type { Connections } from '../connections.ts';
import type { EventsOptions } from '../options/events-options.ts';
import type { HeaderList } from '../../http/response.ts';
import type { Access } from '../../auth/authorize.ts';
import type { RoleContext } from '../../auth/context.ts';
import type { StreamPlan } from '../../events/stream.ts';
import { Streams } from '../../events/streams.ts';
import type { Broadcast, Observer } from '../../ports/ports.ts';
import type { Protector } from '../../auth-schemes/keys/key-ring.ts';
import { localBroadcast } from '../../broadcast/local.ts';
import { postgresBroadcast } from '../../broadcast/postgres.ts';
import { redisBroadcast } from '../../broadcast/redis.ts';
import { sealedBroadcast } from '../../broadcast/sealed.ts';
import { StartError } from '../start-error.ts';
import { Channels } from './channels.ts';
import { RoutinePrivileges } from './routine-privileges.ts';

/** Streams, the channels that feed them, and what carries events to other instances. */
export interface Events {
  readonly streams: Streams;
  readonly broadcast: Broadcast;
  /**
   * What the catalog says now. Resolves when all channels are listened to, or after some seconds without that.
   * @throws StartError where there is no connection to listen on
   */
  adopt(plans: Iterable<StreamPlan>): Promise<void>;
  close(): Promise<void>;
}

/** What the streams have to know of callers. */
interface Callers {
  readonly access: Access;
  /** Null: calls run under the role of their connection. */
  readonly roleContext: RoleContext | null;
  /** Keys that other instances have too; null: there are none. */
  readonly sharedKeys: Protector | null;
}

/** @throws StartError for options that cannot be */
export async function openEvents(
  options: EventsOptions,
  { access, roleContext, sharedKeys }: Callers,
  connections: Connections,
  observe: Observer,
): Promise<Events> {
  const headers = headersOf(options);
  const carrier = await openBroadcast(options, connections, observe);
  const refused = (count: number): void => observe({ kind: 'broadcast-refused', count });
  const broadcast =
    sharedKeys === null || carrier === localBroadcast
      ? carrier
      : sealedBroadcast(carrier, { protector: sharedKeys, refused });
  const { replayEvents, replaySeconds, replayBytes } = options;
  const streams = new Streams({
    access,
    privileges: roleContext === null ? null : new RoutinePrivileges(connections, roleContext),
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
    queueBytes: options.maxQueuedBytes,
  });
  const channels = new Channels(connections, streams);
  return {
    streams,
    broadcast,
    adopt: (plans) => {
      const known = [...new Set(plans)];
      streams.adopt(known);
      return channels.adopt(known);
    },
    close: async () => {
      channels.close();
      streams.close();
      if (typeof options.broadcast === 'string') await broadcast.close();
    },
  };
}

async function openBroadcast(
  { broadcast, broadcastChannel: channel, redisUrl: url }: EventsOptions,
  connections: Connections,
  observe: Observer,
): Promise<Broadcast> {
  if (typeof broadcast !== 'string') return broadcast;
  const report = (error: Error | null): void => observe({ kind: 'broadcast', error });
  try {
    if (broadcast === 'local') return localBroadcast;
    if (broadcast === 'redis') {
      if (url === null) throw new StartError('give redisUrl');
      return await redisBroadcast({ url, channel, report });
    }
    const { listen, notifying } = connections;
    return await postgresBroadcast({ channel, listen, query: (sql, values) => notifying().query(sql, values), report });
  } catch (error) {
    throw new StartError(`events.broadcast ${broadcast}: ${(error as Error).message}`, { cause: error });
  }
}

/** What a header may be called, and hold. */
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const sendable = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

function headersOf({ customServerSentEventsResponseHeaders: custom }: EventsOptions): HeaderList {
  const headers = new Map([
    ['cache-control', 'no-store'],
    ['x-accel-buffering', 'no'],
  ]);
  for (const [name, value] of Object.entries(custom)) {
    if (!token.test(name) || !sendable.test(value)) {
      throw new StartError(`events.customServerSentEventsResponseHeaders: "${name}" is no header that can be sent`);
    }
    headers.set(name.toLowerCase(), value);
  }
  headers.delete('content-type');
  return Object.freeze(['content-type', 'text/event-stream', ...[...headers].flat()]);
}
