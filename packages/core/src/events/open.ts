import type { Connections } from '../connections.ts';
import type { EventsOptions } from '../events-options.ts';
import type { HeaderList } from '../http/response.ts';
import type { Access } from '../pipeline/caller/admit.ts';
import type { StreamPlan } from '../pipeline/events/stream.ts';
import { Streams } from '../pipeline/events/streams.ts';
import type { Broadcast, Observer } from '../pipeline/ports.ts';
import { localBroadcast } from '../plugins/notices/local.ts';
import { postgresBroadcast } from '../plugins/notices/postgres.ts';
import { redisBroadcast } from '../plugins/notices/redis.ts';
import { StartError } from '../start-error.ts';
import { Channels } from './channels.ts';

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

/** @throws StartError for options that cannot be */
export async function openEvents(
  options: EventsOptions,
  access: Access,
  connections: Connections,
  observe: Observer,
): Promise<Events> {
  const headers = headersOf(options);
  const broadcast = await openBroadcast(options, connections, observe);
  const { replayEvents, replaySeconds, replayBytes } = options;
  const streams = new Streams({
    access,
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
