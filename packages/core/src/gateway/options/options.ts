import { describeFaults } from '../../validation/fault.ts';
import type { DataSource } from '../../ports/ports.ts';
import { endpointFormOptions } from '../../endpoints/form-options.ts';
import { endpointDefaults, type EndpointOptions } from '../../endpoints/options.ts';
import { type Filters, filterOptions } from '../../catalog/options.ts';
import { type LogOptions, logOptions } from '../../logging/options.ts';
import {
  defaultsOf,
  type Option,
  option,
  optionGroup,
  type OptionGroup,
  withDefaults,
} from '../../validation/option.ts';
import { nullable, type Validator } from '../../validation/validators.ts';
import { OptionsError } from '../start-error.ts';
import { authenticationOptions, type AuthenticationOptions } from './authentication-options.ts';
import { type BatchOptions, batchOptions } from './batch-options.ts';
import { type CacheOptions, cacheOptions } from './cache-options.ts';
import { type ChangesOptions, changesOptions } from './changes-options.ts';
import { connectionOptions, type GatewayConnectionOptions } from './connection-options.ts';
import { type EventsOptions, eventsOptions } from './event-options.ts';
import { type GeneralOptions, generalOptions } from './general-options.ts';
import { type HookOptions, hookOptions } from './hook-options.ts';
import { type IdempotencyOptions, idempotencyOptions } from './idempotency-options.ts';
import { rateLimitsOptions, type RateLimitsOptions } from './rate-limit-options.ts';
import { type ReadReplicasOptions, readReplicasOptions } from './read-replica-options.ts';
import { tenantOptions, type TenantOptions } from './tenant-options.ts';
import { uploadOptions, type UploadOptions } from './upload-options.ts';

/** All options, with their defaults. */
export type ResolvedOptions = Omit<
  GeneralOptions &
    GatewayConnectionOptions &
    BatchOptions &
    CacheOptions &
    LogOptions &
    HookOptions &
    EndpointOptions &
    Filters,
  'authentication' | 'uploads' | 'rateLimits'
> & {
  /** Null: one database serves all requests. */
  readonly tenant: TenantOptions | null;
  readonly authentication: AuthenticationOptions;
  readonly readReplicas: ReadReplicasOptions;
  readonly events: EventsOptions;
  readonly changes: ChangesOptions;
  readonly rateLimits: RateLimitsOptions;
  readonly idempotency: IdempotencyOptions;
  readonly uploadOptions: UploadOptions;
};

type GroupName =
  | 'tenant'
  | 'authentication'
  | 'readReplicas'
  | 'events'
  | 'changes'
  | 'rateLimits'
  | 'idempotency'
  | 'uploadOptions';

/** The options of `createGateway`: a connection string or a data source, and any other option. */
export type GatewayOptions = Partial<Omit<ResolvedOptions, 'connectionString' | 'connectionNames' | GroupName>> & {
  readonly tenant?: (Pick<TenantOptions, 'by'> & Partial<TenantOptions>) | null;
  readonly authentication?: Partial<AuthenticationOptions>;
  readonly readReplicas?: Partial<ReadReplicasOptions>;
  readonly events?: Partial<EventsOptions>;
  readonly changes?: Partial<ChangesOptions>;
  readonly rateLimits?: Partial<RateLimitsOptions>;
  readonly idempotency?: Partial<IdempotencyOptions>;
  readonly uploadOptions?: Partial<UploadOptions>;
} & (Pick<GatewayConnectionOptions, 'connectionString'> | { readonly dataSource: DataSource });

const groups = {
  authentication: authenticationOptions,
  readReplicas: readReplicasOptions,
  events: eventsOptions,
  changes: changesOptions,
  rateLimits: rateLimitsOptions,
  idempotency: idempotencyOptions,
  uploadOptions,
};

/** Each member of the group has a default. */
function nested<Group>(group: OptionGroup<Group>): Option<Group> {
  return option(group as Validator<Group>, defaultsOf(group) as NoInfer<Group>, group.description);
}

/** `connectionNames` is derived from `connectionStrings`. */
type HostOptions = Omit<ResolvedOptions, 'connectionNames'>;

/** All options of `createGateway`. The type is composed above. */
export const gatewayOptions: OptionGroup<HostOptions> = optionGroup<HostOptions>(
  '',
  'The options of `createGateway`.',
  {
    ...connectionOptions.options,
    // A data source takes its place.
    connectionString: { ...connectionOptions.options.connectionString, isRequired: false },
    ...generalOptions.options,
    ...batchOptions.options,
    ...cacheOptions.options,
    ...logOptions.options,
    ...hookOptions.options,
    ...endpointFormOptions.options,
    ...filterOptions.options,
    tenant: option(
      nullable(tenantOptions),
      null,
      'Several databases with the same schema: one for each tenant. Null: one database serves all requests.',
    ),
    authentication: nested(groups.authentication),
    readReplicas: nested(groups.readReplicas),
    events: nested(groups.events),
    changes: nested(groups.changes),
    rateLimits: nested(groups.rateLimits),
    idempotency: nested(groups.idempotency),
    uploadOptions: nested(groups.uploadOptions),
  },
);

/**
 * Checks names, types and ranges of all options, also of nested ones, and adds the defaults. An option that is undefined counts as not given.
 * @throws StartError with one line for each fault
 */
export function resolveOptions(options: GatewayOptions): ResolvedOptions {
  const faults = gatewayOptions.validate(options, []);
  if (faults.length > 0) throw new OptionsError(describeFaults(faults));
  const given = options as Partial<HostOptions>;
  const nestedOptions = Object.entries(groups).map(([name, group]) => [
    name,
    withDefaults(group as OptionGroup<object>, given[name as keyof typeof groups] ?? {}),
  ]);
  return {
    ...endpointDefaults,
    ...withDefaults(gatewayOptions, given),
    tenant: given.tenant ? withDefaults(tenantOptions, given.tenant) : null,
    ...Object.fromEntries(nestedOptions),
  } as ResolvedOptions;
}
