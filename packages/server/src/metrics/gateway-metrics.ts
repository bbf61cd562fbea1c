/** Metrics of the parts of a gateway, from its statistics. */
import type { Gateway, Statistics } from '@pgway/core';
import { byLabel, type MetricDefinition, type Sample, single } from './define-metric.ts';

type Pool = Statistics['pools'][number];

export function gatewayMetrics(gateway: Gateway): readonly MetricDefinition[] {
  return [
    ...poolMetrics(gateway),
    ...cacheMetrics(gateway),
    ...eventMetrics(gateway),
    ...rateLimitMetrics(gateway),
    ...catalogMetrics(gateway),
  ];
}

function poolMetrics(gateway: Gateway): readonly MetricDefinition[] {
  const labels = ['connection'];
  const read = (value: (pool: Pool) => number) => (): readonly Sample[] =>
    gateway.statistics().pools.map((pool) => [{ connection: pool.connection ?? '' }, value(pool)]);
  const gauge = (name: string, help: string, value: (pool: Pool) => number): MetricDefinition => {
    return { type: 'gauge', name, help, labels, read: read(value) };
  };
  const counter = (name: string, help: string, value: (pool: Pool) => number): MetricDefinition => {
    return { type: 'counter', name, help, labels, read: read(value) };
  };
  return [
    gauge('pgway_pool_connections_max', 'Maximum number of connections of a pool.', ({ size }) => size),
    gauge('pgway_pool_connections_open', 'Open connections of a pool.', ({ open }) => open),
    gauge('pgway_pool_connections_idle', 'Open connections that execute no call.', ({ idle }) => idle),
    gauge('pgway_pool_calls_waiting', 'Calls that wait for a connection.', ({ waiting }) => waiting),
    gauge('pgway_pool_calls_waiting_max', 'Maximum number of calls that may wait.', ({ maxWaiting }) => maxWaiting),
    counter('pgway_pool_waits_total', 'Calls that have waited for a connection and got one.', ({ waits }) => waits),
    counter(
      'pgway_pool_wait_seconds_total',
      'Time that these calls have waited together.',
      ({ waitMs }) => waitMs / 1000,
    ),
    counter(
      'pgway_pool_acquire_timeouts_total',
      'Calls that got no connection in time, or found too many calls waiting.',
      ({ acquireTimeouts }) => acquireTimeouts,
    ),
  ];
}

function cacheMetrics(gateway: Gateway): readonly MetricDefinition[] {
  const ofSize = (value: (size: NonNullable<Statistics['cache']['size']>) => number) => (): readonly Sample[] => {
    const { size } = gateway.statistics().cache;
    return size === null ? [] : single(value(size));
  };
  return [
    {
      type: 'counter',
      name: 'pgway_cache_requests_total',
      help: 'Requests for cached responses: a hit, a miss, or shared with the call of another request.',
      labels: ['result'],
      read: () => {
        const { hits, misses, shared } = gateway.statistics().cache;
        return byLabel('result', { hit: hits, miss: misses, shared });
      },
    },
    {
      type: 'gauge',
      name: 'pgway_cache_entries',
      help: 'Entries of the cache in memory.',
      read: ofSize(({ entries }) => entries),
    },
    {
      type: 'gauge',
      name: 'pgway_cache_size_bytes',
      help: 'Size of the cache in memory.',
      read: ofSize(({ bytes }) => bytes),
    },
    {
      type: 'counter',
      name: 'pgway_cache_evictions_total',
      help: 'Entries of the cache in memory that were removed for others.',
      read: ofSize(({ evictions }) => evictions),
    },
    {
      type: 'gauge',
      name: 'pgway_cache_available',
      help: 'Whether the cache works: 1 or 0.',
      aggregator: 'min',
      read: () => single(gateway.health().cache === null ? 1 : 0),
    },
  ];
}

function eventMetrics(gateway: Gateway): readonly MetricDefinition[] {
  const events = () => gateway.statistics().events;
  return [
    {
      type: 'gauge',
      name: 'pgway_event_streams_open',
      help: 'Open event streams.',
      read: () => single(events().open),
    },
    {
      type: 'counter',
      name: 'pgway_event_streams_opened_total',
      help: 'Event streams that were opened.',
      read: () => single(events().opened),
    },
    {
      type: 'counter',
      name: 'pgway_event_streams_dropped_total',
      help: 'Event streams that were closed because their clients read too slowly.',
      read: () => single(events().dropped),
    },
    {
      type: 'counter',
      name: 'pgway_event_messages_total',
      help: 'Events that were sent, one for each receiver.',
      read: () => single(events().messages),
    },
    {
      type: 'gauge',
      name: 'pgway_broadcast_available',
      help: 'Whether the other instances can be reached: 1 or 0.',
      aggregator: 'min',
      read: () => single(gateway.health().broadcast === null ? 1 : 0),
    },
  ];
}

function rateLimitMetrics(gateway: Gateway): readonly MetricDefinition[] {
  return [
    {
      type: 'counter',
      name: 'pgway_rate_limit_refusals_total',
      help: 'Requests beyond the limit of a policy.',
      labels: ['policy'],
      read: () => gateway.statistics().rateLimits.map(({ policy, refused }) => [{ policy }, refused]),
    },
    {
      type: 'gauge',
      name: 'pgway_rate_limits_available',
      help: 'Whether the store of rate limits works: 1 or 0.',
      aggregator: 'min',
      read: () => single(gateway.health().rateLimits === null ? 1 : 0),
    },
  ];
}

function catalogMetrics(gateway: Gateway): readonly MetricDefinition[] {
  return [
    {
      type: 'gauge',
      name: 'pgway_catalog_endpoints',
      help: 'Endpoints in use.',
      aggregator: 'max',
      read: () => single(gateway.endpoints.length),
    },
    {
      type: 'gauge',
      name: 'pgway_catalog_loaded_timestamp_seconds',
      help: 'When the endpoints in use were loaded, in seconds since 1970.',
      aggregator: 'min',
      read: () => single(gateway.health().catalog.loadedAt.getTime() / 1000),
    },
    {
      type: 'gauge',
      name: 'pgway_catalog_load_duration_seconds',
      help: 'Time that the last load of the endpoints took.',
      aggregator: 'max',
      read: () => single(gateway.statistics().catalog.lastLoadMs / 1000),
    },
    {
      type: 'counter',
      name: 'pgway_catalog_loads_total',
      help: 'Loads of the endpoints, at start and by refreshes.',
      labels: ['result'],
      read: () => {
        const { loads, failedLoads } = gateway.statistics().catalog;
        return byLabel('result', { success: loads, failure: failedLoads });
      },
    },
  ];
}
