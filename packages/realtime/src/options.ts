import {
  arrayOf,
  boolean,
  describeFaults,
  integer,
  nonEmptyString,
  option,
  optionGroup,
  type OptionGroup,
  type Resolved,
  withDefaults,
} from '@pgway/core/internal';
import type { RealtimeOptions } from './options.generated.ts';

export type { RealtimeOptions } from './options.generated.ts';

export const realtimeOptions: OptionGroup<RealtimeOptions> = optionGroup<RealtimeOptions>(
  'RealtimeOptions',
  "Row changes, broadcasts and presence for clients of Supabase's Realtime.",
  {
    path: option(
      nonEmptyString,
      '/realtime/v1',
      'The path of the WebSocket, behind which clients write `/websocket`: `/realtime/v1` for `createClient` of `@supabase/supabase-js`.',
    ),
    allowedOrigins: option(
      arrayOf(nonEmptyString),
      [],
      'Origins of other sites, such as `https://app.example.org`, whose pages may connect. `*`: every site may.',
    ),
    publicChannels: option(
      boolean,
      false,
      'Whether every client that may connect, also an anonymous one, can send and receive broadcasts and presence in channels that are not private. Policies on `realtime.messages` decide about private channels.',
    ),
    maxConnections: option(integer({ min: 1, max: 1_000_000 }), 10_000, 'Maximum number of connections.'),
  },
  { isPartial: true },
);

/** @throws RangeError that names the invalid option */
export function resolveRealtimeOptions(options: RealtimeOptions): Resolved<RealtimeOptions> {
  const faults = realtimeOptions.validate(options, []);
  if (faults.length > 0) throw new RangeError(`realtime: ${describeFaults(faults)}`);
  return withDefaults<RealtimeOptions>(realtimeOptions, options);
}
