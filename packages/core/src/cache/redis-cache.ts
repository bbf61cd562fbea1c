import { createHash, randomBytes } from 'node:crypto';
import type { Cache, CachedResponse, CacheKey, CacheLookup, CacheMiss, CacheState } from '../ports/ports.ts';
import { optionGroup, number, secret, string } from '../validation/validators.ts';
import { RedisConnection, type SendCommand } from './redis-connection.ts';

export interface RedisCacheOptions {
  /** `redis://user:password@host:6379/0`; `rediss://…` for TLS. */
  readonly url: string;
  /** Before every key: gateways with the same prefix give each other's answers, so they have to be before the same database. */
  readonly prefix?: string;
  /** Seconds that a command may take before the server counts as away. */
  readonly timeout?: number;
  /** Seconds that an answer is kept at most, also where its endpoint says nothing of an end. */
  readonly maxAge?: number;
}

const redisCacheOptions = optionGroup<RedisCacheOptions>(
  { url: secret, prefix: string, timeout: number({ above: 0, max: 3600 }), maxAge: number({ above: 0 }) },
  ['url'],
);

/** Changes when entries are written in another way. */
const layout = '1';

/**
 * Keeps answers in Redis or Valkey, for several gateways before one database. How much is kept is for the server to bound
 * (`maxmemory`, with a policy `allkeys-…`). While it is away nothing is kept, and requests go on.
 * @throws RangeError that names the option which cannot be
 */
export function redisCache(options: RedisCacheOptions): Cache {
  const faults = redisCacheOptions.validate(options, '');
  if (faults.length > 0) throw new RangeError(`redisCache: ${faults.join('\n')}`);
  return new RedisCache(options);
}

/**
 * Each routine has a generation, a random text; an entry counts for as long as the generation is the one that it was made in. To
 * make a routine void is to give it another one. Both are in one place of a cluster, and are read together.
 */
class RedisCache implements Cache {
  readonly #prefix: string;
  readonly #maxAge: number;
  readonly #options: RedisCacheOptions;
  #link: RedisConnection | null = null;
  /** Every routine that was asked for: there are as many as the gateway has endpoints. */
  readonly #known = new Set<string>();
  /** What has to be made void before anything of it is believed, and since when. */
  readonly #owed = new Map<string, number>();
  #invalidations = 0;

  constructor(options: RedisCacheOptions) {
    this.#options = options;
    this.#prefix = `${options.prefix ?? 'pgway'}:${layout}:`;
    this.#maxAge = (options.maxAge ?? 86_400) * 1_000;
  }

  async open(report: (state: CacheState) => void): Promise<void> {
    const { url, timeout = 0.5 } = this.#options;
    this.#link = new RedisConnection({
      url,
      timeout: timeout * 1_000,
      report,
      returned: (send) => this.#returned(send),
    });
    await this.#link.open();
  }

  async get({ routine, text }: CacheKey): Promise<CacheLookup> {
    this.#known.add(routine);
    const local = this.#local;
    if (this.#owed.has(routine)) return local;
    const found = await this.#link!.send(['MGET', this.#generationOf(routine), this.#entryOf(routine, text)]);
    // What was made void meanwhile may be what was found.
    if (found === null || this.#owed.has(routine)) return this.#local;
    const [generation, entry] = found.reply as readonly (Buffer | null)[];
    if (generation === null || generation === undefined) return this.#begun(routine);
    const version = generation.toString('latin1');
    const answer = entry === null || entry === undefined ? null : readEntry(entry, version);
    return answer === null ? { response: null, version } : { response: answer };
  }

  async set(
    { routine, text }: CacheKey,
    answer: CachedResponse,
    { version, expires }: { readonly version: string; readonly expires: number | null },
  ): Promise<void> {
    if (version.startsWith(away)) return;
    const left = Math.min(expires ?? this.#maxAge, this.#maxAge) - (Date.now() - answer.storedAt);
    if (left < 1) return;
    const entry = writeEntry(answer, version);
    await this.#link!.send(['SET', this.#entryOf(routine, text), entry, 'PX', String(Math.ceil(left))]);
  }

  async invalidate(routines: readonly string[]): Promise<void> {
    this.#owe(routines);
    await this.#pay(async (command) => {
      const done = await this.#link!.send(command);
      if (done === null) throw new Error('away');
    }).catch(() => undefined);
  }

  close(): void {
    this.#link?.close();
  }

  /** A version that nobody else has, and nothing is kept of; another one after every time that something was made void. */
  get #local(): CacheMiss {
    return { response: null, version: `${away}${this.#invalidations}` };
  }

  /** The first generation, or one in place of what the server has dropped: of whoever comes first. */
  async #begun(routine: string): Promise<CacheLookup> {
    const key = this.#generationOf(routine);
    const [, kept] = await Promise.all([
      this.#link!.send(['SET', key, newGeneration(), 'NX']),
      this.#link!.send(['GET', key]),
    ]);
    if (kept === null || kept.reply === null) return this.#local;
    return { response: null, version: (kept.reply as Buffer).toString('latin1') };
  }

  /** While the server was away others may have made something void, and a server that comes back may have forgotten that. */
  #returned(send: SendCommand): Promise<void> {
    this.#owe([...this.#known]);
    return this.#pay(async (command) => void (await send(command)));
  }

  #owe(routines: readonly string[]): void {
    const number = ++this.#invalidations;
    for (const routine of routines) {
      this.#known.add(routine);
      this.#owed.set(routine, number);
    }
  }

  /** What could not be told stays owed: until then this instance believes nothing of it. */
  async #pay(send: (command: readonly string[]) => Promise<void>): Promise<void> {
    await Promise.all(
      [...this.#owed].map(async ([routine, number]) => {
        await send(['SET', this.#generationOf(routine), newGeneration()]);
        if (this.#owed.get(routine) === number) this.#owed.delete(routine);
      }),
    );
  }

  #generationOf(routine: string): string {
    return `${this.#placeOf(routine)}generation`;
  }

  #entryOf(routine: string, text: string): string {
    return this.#placeOf(routine) + createHash('sha256').update(text).digest('base64url');
  }

  /** What stands in braces decides where in a cluster a key is. */
  #placeOf(routine: string): string {
    return `${this.#prefix}{${encodeURIComponent(routine)}}:`;
  }
}

const away = 'away ';

function newGeneration(): string {
  return randomBytes(12).toString('base64url');
}

interface EntryHead extends Omit<CachedResponse, 'body'> {
  readonly version: string;
}

/** A line of JSON, then the body. */
function writeEntry({ body, ...rest }: CachedResponse, version: string): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify({ version, ...rest } satisfies EntryHead)}\n`), body]);
}

/** Null for an entry of another generation, and for one that nobody here has written. */
function readEntry(entry: Buffer, version: string): CachedResponse | null {
  const end = entry.indexOf(0x0a);
  try {
    const { version: own, ...rest } = JSON.parse(entry.toString('utf8', 0, end)) as EntryHead;
    return own === version ? { ...rest, body: entry.subarray(end + 1) } : null;
  } catch {
    return null;
  }
}
