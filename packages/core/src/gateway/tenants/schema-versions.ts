import { createHash } from 'node:crypto';
import { fingerprintCitus } from '../../catalog/citus.ts';
import { fingerprintSessionEffects } from '../../catalog/session-effects.ts';
import type { EndpointSource } from '../endpoint-source.ts';
import type { ResolvedOptions } from '../options/options.ts';
import { type GatewayServices, listSources, loadEndpoints, type LoadedEndpoints } from '../load-endpoints.ts';
import { StartError } from '../start-error.ts';
import type { Observer } from '../../ports/ports.ts';
import type { Database } from '../../postgres/port.ts';

/** Loads of one database, while its schema changes. */
const maxAttempts = 3;

/**
 * The endpoints of all tenants by the version of their schema. Tenants with one version share its endpoints, which are forgotten when the last
 * of these tenants is closed or has another version.
 */
export class SchemaVersions {
  readonly #loaded = new Map<string, WeakRef<LoadedEndpoints>>();
  readonly #loading = new Map<string, Promise<LoadedEndpoints | null>>();
  readonly #versionQuery: string | null;

  /** @param versionQuery null: a hash of the catalog is the version */
  constructor(versionQuery: string | null) {
    this.#versionQuery = versionQuery;
  }

  /** The number of versions in use. */
  get size(): number {
    return [...this.#loaded.values()].filter((reference) => reference.deref() !== undefined).length;
  }

  /**
   * Returns the endpoints of the version that the database has now.
   * @throws StartError for a schema that cannot be loaded, or that keeps changing; the errors of the database
   */
  async load(services: GatewayServices, options: ResolvedOptions, observe: Observer): Promise<LoadedEndpoints> {
    const sources = await listSources(options);
    const { main } = services.connections;
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      // A further attempt sees a later version.
      const version = await this.#readVersion(main, sources, options);
      const load = async (): Promise<LoadedEndpoints | null> => {
        const loaded = await loadEndpoints(services, sources, options, observe);
        // A migration may have committed in between: the endpoints would be those of another version.
        return (await this.#readVersion(main, sources, options)) === version ? loaded : null;
      };
      const loaded = await this.#share(version, load);
      if (loaded !== null) return loaded;
    }
    throw new StartError('the schema has changed during each attempt to load it; try again after the migration');
  }

  /** Returns the loaded endpoints, or joins a load of another tenant. Null: the version changed during the load. */
  async #share(version: string, load: () => Promise<LoadedEndpoints | null>): Promise<LoadedEndpoints | null> {
    const known = this.#loaded.get(version)?.deref();
    if (known !== undefined) return known;
    const other = this.#loading.get(version);
    if (other !== undefined) {
      // The failure of another database says nothing about this one.
      const loaded = await other.catch(() => null);
      return loaded ?? this.#share(version, load);
    }
    const loading = load();
    this.#loading.set(version, loading);
    try {
      const loaded = await loading;
      if (loaded !== null) this.#add(version, loaded);
      return loaded;
    } finally {
      this.#loading.delete(version);
    }
  }

  #add(version: string, loaded: LoadedEndpoints): void {
    for (const [key, reference] of this.#loaded) if (reference.deref() === undefined) this.#loaded.delete(key);
    this.#loaded.set(version, new WeakRef(loaded));
  }

  async #readVersion(
    database: Database,
    sources: readonly EndpointSource[],
    options: ResolvedOptions,
  ): Promise<string> {
    if (this.#versionQuery !== null) return JSON.stringify(await database.query(this.#versionQuery));
    const [row] = await database.query(`select pg_catalog.current_setting('server_version_num')`);
    const major = Math.floor(Number(row?.[0]) / 10_000);
    const fingerprints: string[] = [];
    for (const source of sources) {
      // One connection is enough.
      fingerprints.push(await fingerprintSource(source, database, options));
    }
    fingerprints.push(await fingerprintSessionEffects(database));
    return sha256(JSON.stringify([major, await fingerprintCitus(database), ...fingerprints]));
  }
}

async function fingerprintSource(
  source: EndpointSource,
  database: Database,
  options: ResolvedOptions,
): Promise<string> {
  if (source.fingerprint !== undefined) return source.fingerprint(database, options);
  return sha256(JSON.stringify(await source.read(database, options)));
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
