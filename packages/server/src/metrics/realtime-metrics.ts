/** Metrics of WebSockets, from their statistics. */
import type { RealtimeStatistics } from '@pgway/realtime';
import { type MetricDefinition, type Sample, single } from './define-metric.ts';

/** @param statistics returns null unless WebSockets are served */
export function realtimeMetrics(statistics: () => RealtimeStatistics | null): readonly MetricDefinition[] {
  const metric = (
    type: MetricDefinition['type'],
    name: string,
    help: string,
    value: (all: RealtimeStatistics) => number,
  ): MetricDefinition => {
    const read = (): readonly Sample[] => {
      const all = statistics();
      return all === null ? [] : single(value(all));
    };
    return { type, name: `pgway_realtime_${name}`, help, read };
  };
  return [
    metric('gauge', 'connections_open', 'Open WebSockets.', ({ connections }) => connections),
    metric('gauge', 'channels_joined', 'Channels that clients have joined.', ({ channels }) => channels),
    // Each process knows all presences.
    {
      ...metric('gauge', 'presences', 'Clients that are present in channels.', (all) => all.presences),
      aggregator: 'max',
    },
    metric('counter', 'broadcasts_total', 'Broadcasts of clients that were sent on.', ({ broadcasts }) => broadcasts),
    {
      ...metric('counter', 'database_messages_total', 'Messages of realtime.send.', (all) => all.databaseMessages),
      aggregator: 'max',
    },
    metric(
      'counter',
      'deliveries_total',
      'Broadcasts and changes of presence that were sent, one for each receiver.',
      ({ deliveries }) => deliveries,
    ),
    metric(
      'counter',
      'refusals_total',
      'Broadcasts and messages of presence that were refused.',
      ({ refusals }) => refusals,
    ),
    metric(
      'counter',
      'slow_clients_total',
      'Connections that were ended because their clients did not read.',
      ({ slowClients }) => slowClients,
    ),
  ];
}
