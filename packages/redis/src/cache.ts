import type { Cache, CachedResponse, CacheKey, CacheLookup, CacheMiss, CacheState } from '@pgway/core';
import { describeFaults, type Resolved, withDefaults } from '@pgway/core/internal';
import { createHash, randomBytes } from 'node:crypto';

import { RedisConnection, type SendCommand } from './connection.ts';
import { type RedisCacheOptions, redisCacheOptions } from './options.ts';

/** The version of the entry format, part of every key. */
const formatVersion = '1';

/**
 * Creates a cache in Redis or Valkey that several gateways for one database share. The server limits its size (`maxmemory` with an
 * `allkeys-…` policy). While the server is unavailable, requests continue without a cache.
 * @throws RangeError with one line for each invalid option
 */
export function redisCache(options: RedisCacheOptions): Cache {
  const faults = redisCacheOptions.validate(options, []);
  if (faults.length > 0) throw new RangeError(`redisCache: ${describeFaults(faults)}`);
  return new RedisCache(withDefaults(redisCacheOptions, options));
}

/**
 * Each routine has a generation, a random text. An entry is valid while its generation is current; an invalidation sets a new one. Both
 * are in one hash slot of a cluster, and one `MGET` reads them.
 */
class RedisCache implements Cache {
  readonly #prefix: string;
  readonly #maxAge: number;
  readonly #options: Resolved<RedisCacheOptions>;
  #connection: RedisConnection | null = null;
  /** Every routine that was looked up or invalidated, so at most one per endpoint. */
  readonly #routines = new Set<string>();
  /** Invalidations that the server has not confirmed, by routine with their number. Lookups of these routines miss. */
  readonly #pending = new Map<string, number>();
  #invalidations = 0;

  constructor(options: Resolved<RedisCacheOptions>) {
    this.#options = options;
    this.#prefix = `${options.prefix}:${formatVersion}:`;
    this.#maxAge = options.maxAge * 1_000;
  }

  async open(report: (state: CacheState) => void): Promise<void> {
    const { url, timeout } = this.#options;
    this.#connection = new RedisConnection({
      url,
      timeout: timeout * 1_000,
      report,
      onConnect: (send) => this.#invalidateAll(send),
      onAvailable: () => void this.#confirmPending(),
    });
    await this.#connection.open();
  }

  async get({ routine, text }: CacheKey): Promise<CacheLookup> {
    this.#routines.add(routine);
    if (this.#pending.has(routine)) return this.#localMiss;
    const found = await this.#connection!.send(['MGET', this.#generationKey(routine), this.#entryKey(routine, text)]);
    // The reply may be older than an invalidation during the command.
    if (found === null || this.#pending.has(routine)) return this.#localMiss;
    const [generation, entry] = found.reply as readonly (Buffer | null)[];
    if (generation === null || generation === undefined) return this.#startGeneration(routine);
    const version = generation.toString('latin1');
    const response = entry === null || entry === undefined ? null : readEntry(entry, version);
    return response === null ? { response, version } : { response };
  }

  async set(
    { routine, text }: CacheKey,
    response: CachedResponse,
    { version, expires }: { readonly version: string; readonly expires: number | null },
  ): Promise<void> {
    if (version.startsWith(localPrefix)) return;
    const ttl = Math.min(expires ?? this.#maxAge, this.#maxAge) - (Date.now() - response.storedAt);
    if (ttl < 1) return;
    const entry = writeEntry(response, version);
    await this.#connection!.send(['SET', this.#entryKey(routine, text), entry, 'PX', String(Math.ceil(ttl))]);
  }

  async invalidate(routines: readonly string[]): Promise<void> {
    this.#addPending(routines);
    await this.#confirmPending();
  }

  close(): void {
    this.#connection?.close();
  }

  /** A miss with a version of this instance: its response is not stored. The version changes with each invalidation. */
  get #localMiss(): CacheMiss {
    return { response: null, version: `${localPrefix}${this.#invalidations}` };
  }

  /** Sets a generation for a routine without one, new or evicted. The first instance to set it wins. */
  async #startGeneration(routine: string): Promise<CacheLookup> {
    const key = this.#generationKey(routine);
    const [, current] = await Promise.all([
      this.#connection!.send(['SET', key, newGeneration(), 'NX']),
      this.#connection!.send(['GET', key]),
    ]);
    if (current === null || current.reply === null) return this.#localMiss;
    return { response: null, version: (current.reply as Buffer).toString('latin1') };
  }

  /** Invalidates all routines after a reconnect: other instances may have invalidated some, and the server may have lost data. */
  #invalidateAll(send: SendCommand): Promise<void> {
    this.#addPending([...this.#routines]);
    return this.#sendPending(async (command) => void (await send(command)));
  }

  #addPending(routines: readonly string[]): void {
    const number = ++this.#invalidations;
    for (const routine of routines) {
      this.#routines.add(routine);
      this.#pending.set(routine, number);
    }
  }

  /** Sends the pending invalidations. Those that fail stay pending until the server is available again. */
  async #confirmPending(): Promise<void> {
    await this.#sendPending(async (command) => {
      const sent = await this.#connection!.send(command);
      if (sent === null) throw new Error('unavailable');
    }).catch(() => undefined);
  }

  /** Sends the pending invalidations; rejects with the first error. */
  async #sendPending(send: (command: readonly string[]) => Promise<void>): Promise<void> {
    await Promise.all(
      [...this.#pending].map(async ([routine, number]) => {
        await send(['SET', this.#generationKey(routine), newGeneration()]);
        if (this.#pending.get(routine) === number) this.#pending.delete(routine);
      }),
    );
  }

  #generationKey(routine: string): string {
    return `${this.#keyPrefix(routine)}generation`;
  }

  #entryKey(routine: string, text: string): string {
    return this.#keyPrefix(routine) + createHash('sha256').update(text).digest('base64url');
  }

  /** The hash tag in braces puts all keys of a routine in one slot (Redis Cluster specification). */
  #keyPrefix(routine: string): string {
    return `${this.#prefix}{${encodeURIComponent(routine)}}:`;
  }
}

/** Starts the versions of local misses. A generation has no space. */
const localPrefix = 'local ';

function newGeneration(): string {
  return randomBytes(12).toString('base64url');
}

interface EntryHeader extends Omit<CachedResponse, 'body'> {
  readonly version: string;
}

/** Returns a line of JSON, followed by the body. */
function writeEntry({ body, ...rest }: CachedResponse, version: string): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify({ version, ...rest } satisfies EntryHeader)}\n`), body]);
}

/** Returns null for an entry of another generation, and for one in another format. */
function readEntry(entry: Buffer, version: string): CachedResponse | null {
  const end = entry.indexOf(0x0a);
  try {
    const { version: entryVersion, ...rest } = JSON.parse(entry.toString('utf8', 0, end)) as EntryHeader;
    return entryVersion === version ? { ...rest, body: entry.subarray(end + 1) } : null;
  } catch {
    return null;
  }
}
