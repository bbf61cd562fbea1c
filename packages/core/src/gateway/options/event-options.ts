import { option, optionGroup, type OptionGroup } from '../../validation/option.ts';
import {
  boundedText,
  implementation,
  integer,
  number,
  oneOf,
  recordOf,
  string,
  union,
} from '../../validation/validators.ts';
import type { Broadcast } from '../../ports/ports.ts';
import type { EventsOptions } from './options.generated.ts';

export type { EventsOptions } from './options.generated.ts';

export const eventsOptions: OptionGroup<EventsOptions> = optionGroup<EventsOptions>(
  'EventsOptions',
  'Server-sent events: notices that routines raise (`info_path`) and NOTIFY channels (`listen`).',
  {
    heartbeat: option(
      number({ above: 0, max: 3600 }),
      15,
      'Seconds between two heartbeats of a stream; a client that reads nothing for two heartbeats is disconnected.',
    ),
    maxStreams: option(
      integer({ min: 1, max: 1_000_000 }),
      10_000,
      'Maximum number of open streams; another one is answered 503.',
    ),
    maxStreamsPerUser: option(
      integer({ min: 1, max: 1_000_000 }),
      20,
      'Maximum number of open streams of an authenticated user; another one is answered 429.',
    ),
    maxStreamsPerAddress: option(
      integer({ min: 1, max: 1_000_000 }),
      200,
      'Maximum number of open streams of unauthenticated callers from one address, and of WebSockets (`realtime`) from one address. Behind a proxy, list the proxy in `authentication.trustedProxies`.',
    ),
    maxQueuedBytes: option(
      integer({ min: 1, max: 1_073_741_824 }),
      1024 * 1024,
      'Maximum bytes queued for one client before it is disconnected.',
    ),
    replayEvents: option(
      integer({ min: 0, max: 1_000_000 }),
      1_000,
      'Maximum events of each stream that are kept for clients that reconnect.',
    ),
    replaySeconds: option(
      number({ min: 0, max: 86_400 }),
      60,
      'Seconds that events are kept for clients that reconnect.',
    ),
    replayBytes: option(
      integer({ min: 1, max: 1_073_741_824 }),
      512 * 1024,
      'Maximum bytes of the kept events of each stream, and of a single event.',
    ),
    customServerSentEventsResponseHeaders: option(
      recordOf(string),
      {},
      'Response headers of every stream, added to `Cache-Control: no-store` and `X-Accel-Buffering: no` or replacing them.',
    ),
    broadcast: option(
      union(
        oneOf('local', 'postgres'),
        implementation<Broadcast>('Broadcast', '../../ports/ports.ts', ['publish', 'subscribe', 'health', 'close']),
      ),
      'local',
      'How several instances share events, refreshes and logouts: not at all, by NOTIFY of the main database, or by an implementation, such as that for Redis of `@pgway/redis`, which the gateway opens and closes.',
    ),
    broadcastChannel: option(boundedText(63), 'pgway', 'The channel that the instances of one gateway share.'),
  },
);
