import { isDeepStrictEqual } from 'node:util';
import type { Handle } from '../../http/response.ts';
import { Problem } from '../../http/problem.ts';
import type { GatewayRequest } from '../../http/request.ts';
import { ConnectionLimit } from '../../postgres/connection-limit.ts';
import type { ConnectionSettings } from '../../postgres/connection-string.ts';
import type { Observer } from '../../ports/ports.ts';
import { lookUpRoute } from '../../request/route-lookup.ts';
import { observeHandled } from '../../request/request-observation.ts';
import { type GatewayInstance, openInstance } from '../instance.ts';
import type { ResolvedOptions } from '../options/options.ts';
import type { TenantOptions } from '../options/tenant-options.ts';
import { openServices, type Services } from '../services.ts';
import { toStartError } from '../start-error.ts';
import { problemToResponse } from '../built-in-routes.ts';
import type { SchemaVersions } from './schema-versions.ts';
import { createTenantSelector, type SelectTenant, tenantLogins } from './select-tenant.ts';
import { TenantDirectory } from './tenant-directory.ts';
import { withTenantOrigin } from './tenant-name.ts';
import { tenantBroadcast, tenantCache } from './tenant-scope.ts';
import { createTenantState, type TenantState } from './tenant-state.ts';
import { addStatistics, noStatistics, type TenantStatistics } from './tenant-statistics.ts';

/** Milliseconds of the first and the longest pause after a failure to open the database of a tenant. */
const minRetryMs = 500;
const maxRetryMs = 30_000;
/** Milliseconds between two searches for idle tenants. */
const maxSweepMs = 30_000;

/** A tenant that has been asked for. */
class Tenant {
  readonly name: string;
  readonly state: TenantState;
  settings: ConnectionSettings;
  /** The same settings in the latest list of tenants. */
  listed: ConnectionSettings;
  /** Null: closed. */
  instance: GatewayInstance | null = null;
  opening: Promise<GatewayInstance> | null = null;
  /** Requests without a response. */
  active = 0;
  /** By `performance.now()`. */
  lastUsed = 0;
  failures = 0;
  /** No attempt to open the database before then, by `performance.now()`. */
  retryAt = 0;

  constructor(name: string, settings: ConnectionSettings, state: TenantState) {
    this.name = name;
    this.state = state;
    this.settings = settings;
    this.listed = settings;
  }

  /** Whether a request, a call or an event stream uses the tenant. */
  get isBusy(): boolean {
    if (this.active > 0 || this.opening !== null) return true;
    if (this.instance === null) return false;
    const { connections, events } = this.instance.services;
    const { open, idle, waiting } = connections.main.statistics();
    return waiting > 0 || open > idle || events.streams.statistics().open > 0;
  }
}

export interface TenantsInput {
  /** The gateway of the option `connectionString`. */
  readonly main: GatewayInstance;
  readonly versions: SchemaVersions;
  readonly options: ResolvedOptions;
  readonly observe: Observer;
}

/** The databases of tenants, each with services of its own, opened by their first request. */
export class Tenants {
  readonly #tenant: TenantOptions;
  readonly #options: ResolvedOptions;
  readonly #observe: Observer;
  readonly #versions: SchemaVersions;
  readonly #main: Services;
  readonly #hasRoute: (request: GatewayRequest) => boolean;
  readonly #directory: TenantDirectory;
  readonly #select: SelectTenant;
  readonly #limit: ConnectionLimit;
  /** In the order of first use. At most one for each tenant of the directory. */
  readonly #tenants = new Map<string, Tenant>();
  readonly #closing = new Set<Promise<void>>();
  /** The counters of the tenants that have been closed. */
  #closedStatistics = noStatistics;
  readonly #sweepTimer: NodeJS.Timeout;
  #streamsEnded = false;
  #isClosed = false;

  /** @throws StartError for invalid options; the errors of the query that lists the tenants */
  static async open(input: TenantsInput): Promise<Tenants> {
    const tenants = new Tenants(input);
    await tenants.#directory.read().catch((error: unknown) => {
      clearInterval(tenants.#sweepTimer);
      throw toStartError(error);
    });
    return tenants;
  }

  private constructor({ main, versions, options, observe }: TenantsInput) {
    const tenant = options.tenant!;
    this.#tenant = tenant;
    this.#options = options;
    this.#observe = observe;
    this.#versions = versions;
    this.#main = main.services;
    this.#hasRoute = (request) => lookUpRoute(request, main.loaded()).kind !== 'not-found';
    this.#directory = new TenantDirectory(tenant, main.services.connections.main, observe);
    this.#select = createTenantSelector(tenant, main.services.authentication);
    this.#limit = new ConnectionLimit(Math.max(1, Math.floor(tenant.maxConnections / options.processes)));
    this.#sweepTimer = setInterval(() => this.#sweep(), Math.min(maxSweepMs, (tenant.idleTimeout * 1_000) / 4));
    this.#sweepTimer.unref();
  }

  /** Answers a request by the gateway of its tenant. Undefined: the request is for another host, or matches no endpoint. */
  readonly handle: Handle = async (request) => {
    let tenant: Tenant | null = null;
    try {
      tenant = await this.#tenantOf(request);
      if (tenant === null) return undefined;
      tenant.active++;
      const instance = tenant.instance ?? (await this.#openOnce(tenant));
      return await instance.handle(request);
    } catch (error) {
      // Pages and routes of the host are not those of a tenant.
      if (tenant === null && isRefusal(error) && !this.#hasRoute(request)) return undefined;
      return this.#fail(error, request, tenant);
    } finally {
      this.#endUse(tenant);
    }
  };

  /**
   * Uses the gateway of the request's tenant for something else than an endpoint.
   * @throws Problem 404 for an unknown tenant or host, 503 for an unavailable database
   */
  async use<Result>(request: GatewayRequest, act: (instance: GatewayInstance) => Promise<Result>): Promise<Result> {
    const tenant = await this.#tenantOf(request);
    if (tenant === null) throw new Problem('unknown-tenant');
    tenant.active++;
    try {
      return await act(tenant.instance ?? (await this.#openOnce(tenant)));
    } finally {
      this.#endUse(tenant);
    }
  }

  /** Reads the list of tenants and the schemas of those in use again. A tenant whose refresh fails keeps its endpoints. */
  async refresh(): Promise<void> {
    await this.#directory.read();
    for (const { name, instance } of this.#tenants.values()) {
      // One at a time: the requests need the connections.
      await instance?.reload().catch((error: unknown) => {
        this.#observe({ kind: 'refresh-failed', error: toStartError(error), tenant: name });
      });
    }
  }

  statistics(): TenantStatistics {
    const open = this.#open();
    const now = performance.now();
    return {
      counters: open.reduce((sum, { instance }) => addStatistics(sum, instance!.statistics()), this.#closedStatistics),
      known: this.#directory.size,
      open: open.length,
      unavailable: [...this.#tenants.values()].filter(({ instance, retryAt }) => instance === null && retryAt > now)
        .length,
      schemaVersions: this.#versions.size,
      maxConnections: this.#limit.max,
    };
  }

  endStreams(): void {
    this.#streamsEnded = true;
    for (const { instance } of this.#open()) instance!.services.events.streams.close();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#sweepTimer);
    await Promise.allSettled([...this.#tenants.values()].flatMap(({ opening }) => opening ?? []));
    for (const tenant of this.#open()) this.#close(tenant);
    await Promise.all(this.#closing);
  }

  #open(): readonly Tenant[] {
    return [...this.#tenants.values()].filter(({ instance }) => instance !== null);
  }

  /** @throws Problem */
  #tenantOf(request: GatewayRequest): Tenant | null | Promise<Tenant | null> {
    const name = this.#select(request);
    return name instanceof Promise ? name.then((selected) => this.#find(selected)) : this.#find(name);
  }

  /** @throws Problem `unknown-tenant` */
  #find(name: string | null): Tenant | null {
    if (name === null) return null;
    const settings = this.#directory.find(name);
    if (settings === undefined) throw new Problem('unknown-tenant');
    const known = this.#tenants.get(name);
    if (known !== undefined) {
      if (known.listed !== settings) this.#update(known, settings);
      return known;
    }
    const tenant = new Tenant(name, settings, createTenantState(name, this.#main, this.#options));
    this.#tenants.set(name, tenant);
    return tenant;
  }

  /** Takes the settings of a new list. Changed ones close the connections. */
  #update(tenant: Tenant, settings: ConnectionSettings): void {
    tenant.listed = settings;
    if (isDeepStrictEqual(tenant.settings, settings)) return;
    this.#close(tenant);
    tenant.settings = settings;
    tenant.retryAt = 0;
  }

  /** @throws Problem 503 */
  #openOnce(tenant: Tenant): Promise<GatewayInstance> {
    tenant.opening ??= this.#openTenant(tenant).finally(() => (tenant.opening = null));
    return tenant.opening;
  }

  async #openTenant(tenant: Tenant): Promise<GatewayInstance> {
    const wait = tenant.retryAt - performance.now();
    if (wait > 0) throw unavailable(wait);
    this.#makeRoom();
    const { name, settings } = tenant;
    try {
      const instance = await this.#openInstance(tenant);
      if (this.#isClosed || this.#tenants.get(name) !== tenant || tenant.settings !== settings) {
        await instance.close();
        throw unavailable(minRetryMs);
      }
      if (this.#streamsEnded) instance.services.events.streams.close();
      tenant.instance = instance;
      tenant.failures = 0;
      return instance;
    } catch (error) {
      if (error instanceof Problem) throw error;
      const retryMs = Math.min(maxRetryMs, minRetryMs * 2 ** tenant.failures++);
      tenant.retryAt = performance.now() + retryMs;
      this.#observe({ kind: 'tenant-unavailable', error: toStartError(error), retryMs, tenant: name });
      throw unavailable(retryMs, error);
    }
  }

  #openInstance({ name, settings, state }: Tenant): Promise<GatewayInstance> {
    const { authentication, uploads, cache, events } = this.#main;
    const observe: Observer = (observation) => this.#observe({ ...observation, tenant: name });
    const { broadcast } = this.#options.events;
    const { authentication: authenticationOptions } = this.#options;
    const { externalSignIn } = authenticationOptions;
    const options: ResolvedOptions = {
      ...this.#options,
      startRetry: 0,
      authentication: { ...authenticationOptions, externalSignIn: withTenantOrigin(externalSignIn, name) },
      defaultRoutineCache: tenantCache(cache.store, name),
      events: {
        ...this.#options.events,
        broadcast: broadcast === 'local' ? broadcast : tenantBroadcast(events.broadcast, name),
      },
      // Generated files are those of the gateway's own database.
      endpointCreateHandlers: [],
      endpointsExplained: null,
    };
    const services = {
      database: { settings, limit: this.#limit },
      uploads: { ...uploads, execution: { ...uploads.execution, tenant: name } },
      rateLimits: state.rateLimits,
      authentication:
        this.#tenant.by === 'claim' ? tenantLogins(authentication, this.#tenant, () => name) : state.authentication,
    };
    return openInstance(
      {
        openServices: (start) => openServices(options, observe, start, services),
        loadEndpoints: (parts) => this.#versions.load(parts, options, observe),
      },
      options,
      observe,
    );
  }

  /**
   * Closes the least recently used tenant when too many are open.
   * @throws Problem 503 when all are in use
   */
  #makeRoom(): void {
    const used = [...this.#tenants.values()].filter(({ instance, opening }) => instance !== null || opening !== null);
    if (used.length < this.#tenant.maxOpen) return;
    const idle = used.filter(({ isBusy }) => !isBusy);
    const [first] = idle.toSorted((one, other) => one.lastUsed - other.lastUsed);
    if (first === undefined) throw new Problem('no-free-connection', { headers: ['retry-after', '1'] });
    this.#close(first);
  }

  #endUse(tenant: Tenant | null): void {
    if (tenant === null) return;
    tenant.active--;
    tenant.lastUsed = performance.now();
  }

  /** Closes tenants that no request has used for a while, and forgets those that are not in the list any more. */
  #sweep(): void {
    const oldest = performance.now() - this.#tenant.idleTimeout * 1_000;
    for (const tenant of this.#tenants.values()) {
      const isListed = this.#directory.find(tenant.name) !== undefined;
      if (!isListed) this.#tenants.delete(tenant.name);
      if (!isListed || (tenant.lastUsed < oldest && !tenant.isBusy)) this.#close(tenant);
    }
  }

  /** Ends the streams and waits for running calls. A request meanwhile opens the tenant again. */
  #close(tenant: Tenant): void {
    const { instance, name } = tenant;
    if (instance === null) return;
    tenant.instance = null;
    this.#closedStatistics = addStatistics(this.#closedStatistics, instance.statistics(), true);
    const closing = instance.close().catch((error: unknown) => {
      this.#observe({ kind: 'connection-failed', connection: null, error: toStartError(error), tenant: name });
    });
    this.#closing.add(closing);
    void closing.finally(() => this.#closing.delete(closing));
  }

  #fail(error: unknown, request: GatewayRequest, tenant: Tenant | null): ReturnType<typeof problemToResponse> {
    const ofTenant = tenant === null ? {} : { tenant: tenant.name };
    const observe: Observer = (observation) => this.#observe({ ...observation, ...ofTenant });
    const handled = { request, endpoint: null, caller: null, targets: [] };
    observeHandled({ observe, observesRequests: this.#options.observeRequests }, handled);
    return problemToResponse(error, request, { options: this.#options, observe });
  }
}

/** Whether the caller may not use any tenant. */
function isRefusal(error: unknown): boolean {
  return error instanceof Problem && (error.status === 401 || error.status === 403);
}

function unavailable(waitMs: number, cause?: unknown): Problem {
  const seconds = String(Math.max(1, Math.ceil(waitMs / 1_000)));
  return new Problem('database-unavailable', { headers: ['retry-after', seconds], cause });
}
