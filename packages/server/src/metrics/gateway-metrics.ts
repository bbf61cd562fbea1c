/** Metrics of the parts of a gateway, from its statistics. */
import type { Gateway, Statistics, TenantsHealth } from '@pgway/core';
import type { RealtimeStatistics } from '@pgway/realtime';
import type { MetricsConfiguration } from '../config/schema/metrics.ts';
import { byLabel, type MetricDefinition, type Sample, single } from './define-metric.ts';
import { realtimeMetrics } from './realtime-metrics.ts';

type Pool = Statistics['pools'][number];
type Changes = NonNullable<Statistics['changes']>;
type Replica = Statistics['reads']['replicas'][number];
type EndpointPlans = NonNullable<Statistics['plans']>['endpoints'][number];

/** The value of the label `route` for all endpoints together. */
export const endpointRoute = 'endpoint';

/** @param realtime returns null unless WebSockets are served */
export function gatewayMetrics(
  gateway: Gateway,
  configuration: Pick<MetricsConfiguration, 'perEndpoint'>,
  realtime: () => RealtimeStatistics | null,
): readonly MetricDefinition[] {
  return [
    ...poolMetrics(gateway),
    ...replicaMetrics(gateway),
    ...planMetrics(gateway, configuration),
    ...cacheMetrics(gateway),
    ...eventMetrics(gateway),
    ...changeMetrics(gateway),
    ...realtimeMetrics(realtime),
    ...rateLimitMetrics(gateway),
    ...catalogMetrics(gateway),
    ...tenantMetrics(gateway),
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

function replicaMetrics(gateway: Gateway): readonly MetricDefinition[] {
  const labels = ['replica'];
  const read = (value: (replica: Replica) => number | null) => (): readonly Sample[] =>
    gateway.statistics().reads.replicas.flatMap((state) => {
      const number = value(state);
      return number === null ? [] : [[{ replica: state.replica }, number] as const];
    });
  return [
    {
      type: 'gauge',
      name: 'pgway_replica_usable',
      help: 'Whether a read replica gets calls: 1 or 0.',
      labels,
      aggregator: 'min',
      read: read(({ unusableReason }) => (unusableReason === null ? 1 : 0)),
    },
    {
      type: 'gauge',
      name: 'pgway_replica_lag_seconds',
      help: 'Time since a read replica was known to have all changes.',
      labels,
      aggregator: 'max',
      read: read(({ lagMs }) => (lagMs === null ? null : lagMs / 1000)),
    },
    {
      type: 'counter',
      name: 'pgway_replica_calls_total',
      help: 'Calls that a read replica got.',
      labels,
      read: read(({ calls }) => calls),
    },
    {
      type: 'counter',
      name: 'pgway_replica_repeated_calls_total',
      help: 'Calls that failed on a read replica and ran again on the primary.',
      labels,
      read: read(({ repeatedCalls }) => repeatedCalls),
    },
    {
      type: 'counter',
      name: 'pgway_reads_on_primary_total',
      help: 'Reads that ran on the primary because no replica was usable or recent enough.',
      read: () => single(gateway.statistics().reads.readsOnPrimary),
    },
  ];
}

/** Empty unless plans are chosen by measurement. Without labels for endpoints, all of them are one sum. */
function planMetrics(
  gateway: Gateway,
  { perEndpoint }: Pick<MetricsConfiguration, 'perEndpoint'>,
): readonly MetricDefinition[] {
  if (gateway.statistics().plans === undefined) return [];
  const plans = () => gateway.statistics().plans!;
  return [
    {
      type: 'gauge',
      name: 'pgway_plan_statements',
      help: 'Prepared statements of an endpoint by the plans that were chosen for them: auto or generic.',
      labels: ['method', 'route', 'plan'],
      read: () => sumByLabels(plans().endpoints, perEndpoint),
    },
    {
      type: 'counter',
      name: 'pgway_plan_comparisons_total',
      help: 'Comparisons of plans by their result; exceeded: a trial was cancelled at its limit.',
      labels: ['result'],
      read: () => byLabel('result', plans().comparisons),
    },
    {
      type: 'counter',
      name: 'pgway_plan_fallbacks_total',
      help: 'Changes back to auto, because calls with a generic plan took longer.',
      read: () => single(plans().fallbacks),
    },
  ];
}

function sumByLabels(endpoints: readonly EndpointPlans[], perEndpoint: boolean): readonly Sample[] {
  const sums = new Map<string, Sample>();
  for (const { method, path, auto, generic } of endpoints) {
    const route = perEndpoint ? path : endpointRoute;
    for (const [plan, count] of [
      ['auto', auto],
      ['generic', generic],
    ] as const) {
      const key = `${plan} ${method} ${route}`;
      sums.set(key, [{ method, route, plan }, (sums.get(key)?.[1] ?? 0) + count]);
    }
  }
  return [...sums.values()];
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

/** Without series unless an endpoint has changes. */
function changeMetrics(gateway: Gateway): readonly MetricDefinition[] {
  const read = (value: (changes: Changes) => number | null) => (): readonly Sample[] => {
    const { changes } = gateway.statistics();
    const sample = changes === undefined ? null : value(changes);
    return sample === null ? [] : single(sample);
  };
  const metric = (
    type: MetricDefinition['type'],
    name: string,
    help: string,
    value: (changes: Changes) => number | null,
  ): MetricDefinition => ({ type, name, help, read: read(value), ...(type === 'gauge' ? { aggregator: 'max' } : {}) });
  return [
    metric(
      'gauge',
      'pgway_changes_lag_bytes',
      'Bytes of the log behind the latest state of row changes.',
      ({ lagBytes }) => lagBytes,
    ),
    metric('gauge', 'pgway_changes_cut_seconds', 'Age of the latest state of row changes.', ({ cutAgeMs }) =>
      cutAgeMs === null ? null : cutAgeMs / 1000,
    ),
    metric(
      'counter',
      'pgway_changes_lookups_total',
      'Reads of changed rows, one for each group of equal subscriptions.',
      ({ lookups }) => lookups,
    ),
    metric(
      'counter',
      'pgway_changes_deliveries_total',
      'Row changes that were sent, one for each receiver.',
      ({ deliveries }) => deliveries,
    ),
    {
      type: 'counter',
      name: 'pgway_changes_gaps_total',
      help: 'Gaps in row changes that were sent, one for each receiver.',
      labels: ['reason'],
      read: () => byLabel('reason', gateway.statistics().changes?.gaps ?? {}),
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

/** Empty without tenants. No label has their names: their number has no bound. */
function tenantMetrics(gateway: Gateway): readonly MetricDefinition[] {
  if (gateway.statistics().tenants === undefined) return [];
  const gauge = (name: string, help: string, value: (tenants: TenantsHealth) => number): MetricDefinition => {
    const read = (): readonly Sample[] => single(value(gateway.statistics().tenants!));
    return { type: 'gauge', name, help, aggregator: 'max', read };
  };
  return [
    gauge('pgway_tenants_known', 'Tenants that are configured or listed.', ({ known }) => known),
    gauge('pgway_tenants_open', 'Tenants whose databases are connected.', ({ open }) => open),
    gauge('pgway_tenants_unavailable', 'Tenants whose databases cannot be used.', ({ unavailable }) => unavailable),
    gauge(
      'pgway_tenant_schema_versions',
      'Versions of the schema among the tenants in use.',
      ({ schemaVersions }) => schemaVersions,
    ),
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
