import { type KeyEncryption, KeyRingError } from './key-encryption.ts';
import { type Key, makeKey } from './key.ts';
import type { KeyStorage, StoredKey } from './key-storage.ts';
import { toError } from '../../to-error.ts';

export interface KeyRotationOptions {
  readonly storage: KeyStorage;
  readonly encryption: KeyEncryption;
  /** All in seconds. */
  readonly keyLifetime: number;
  readonly renewBefore: number;
  readonly refreshEvery: number;
  readonly rereadAfter: number;
  readonly report: (error: Error) => void;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** The keys in memory: read from storage, re-read regularly, and succeeded by new keys before they expire. */
export class KeyRotation {
  readonly #options: KeyRotationOptions;
  #keys: ReadonlyMap<string, Key> = new Map();
  #reported: ReadonlySet<string> = new Set();
  /** When storage is read again, in seconds since 1970. */
  #nextRefresh = 0;
  #refreshing: Promise<void> | null = null;
  /** When an unknown key id last caused a read of storage, in seconds since 1970. */
  #lastSearch = Number.NEGATIVE_INFINITY;
  #searching: Promise<void> | null = null;

  constructor(options: KeyRotationOptions) {
    this.#options = options;
  }

  /** @throws KeyRingError when a stored key cannot be read; the errors of the storage */
  async open(): Promise<void> {
    const { storage, encryption } = this.#options;
    await Promise.all((await storage.read()).map((stored) => encryption.decrypt(stored)));
    await this.#read();
    await this.#renew();
    this.#nextRefresh = this.#seconds() + this.#options.refreshEvery;
  }

  /**
   * Returns the key for encryption.
   * @throws KeyRingError when there is none and none can be stored
   */
  async current(): Promise<Key> {
    const active = this.#active();
    if (active !== null && this.#seconds() < this.#nextRefresh) return active;
    this.#refreshing ??= this.#refresh().finally(() => (this.#refreshing = null));
    await this.#refreshing;
    const key = this.#active();
    if (key !== null) return key;
    throw new KeyRingError('the key ring has no active key, and its storage can be neither read nor written');
  }

  /**
   * Returns a key by its id. An unknown id causes a read of storage, since another instance may have made the key. That happens once
   * in `rereadAfter` seconds, because ids come from clients.
   */
  async find(id: string): Promise<Key | null> {
    const key = this.#keys.get(id);
    if (key !== undefined) return key;
    if (this.#searching === null && this.#seconds() - this.#lastSearch >= this.#options.rereadAfter) {
      this.#lastSearch = this.#seconds();
      this.#searching = this.#read()
        .catch((error: unknown) => this.#report(error))
        .finally(() => (this.#searching = null));
    }
    await this.#searching;
    return this.#keys.get(id) ?? null;
  }

  /** An error is only reported: a key that is in memory remains usable. */
  async #refresh(): Promise<void> {
    const { refreshEvery, rereadAfter } = this.#options;
    try {
      await this.#read();
      await this.#renew();
      this.#nextRefresh = this.#seconds() + refreshEvery;
    } catch (error) {
      this.#report(error);
      this.#nextRefresh = this.#seconds() + rereadAfter;
    }
  }

  async #read(): Promise<void> {
    const { storage } = this.#options;
    const read = await Promise.all((await storage.read()).map((stored) => this.#readOne(stored)));
    this.#keys = new Map(read.flatMap((key) => (key === null ? [] : [[key.id, key]])));
  }

  /** Reports an unreadable key once, and skips it: the other keys remain usable. */
  async #readOne(stored: StoredKey): Promise<Key | null> {
    try {
      return await this.#options.encryption.decrypt(stored);
    } catch (error) {
      if (!this.#reported.has(stored.text)) {
        this.#reported = new Set([...[...this.#reported].slice(-100), stored.text]);
        this.#report(error);
      }
      return null;
    }
  }

  /**
   * Makes a new key early enough for all instances to read it before it encrypts. When two instances do so concurrently, there are two
   * new keys, and all instances select the same one.
   */
  async #renew(): Promise<void> {
    const { keyLifetime, renewBefore } = this.#options;
    const now = this.#seconds();
    const key = this.#active();
    if (key === null) return this.#add(makeKey({ created: now, activated: now, expires: now + keyLifetime }));
    if (key.expires - now > renewBefore || this.#hasSuccessor(key)) return;
    await this.#add(makeKey({ created: now, activated: key.expires, expires: key.expires + keyLifetime }));
  }

  async #add(key: Key): Promise<void> {
    const { storage, encryption } = this.#options;
    await storage.write(key.id, await encryption.encrypt(key));
    await this.#read();
    if (this.#keys.has(key.id)) return;
    throw new KeyRingError(
      'a new key was written to the storage of the key ring, but reading the storage does not return it; make readCommand and ' +
        'writeCommand use the same table',
    );
  }

  #hasSuccessor(key: Key): boolean {
    return [...this.#keys.values()].some((other) => other.activated <= key.expires && other.expires > key.expires);
  }

  /** Returns the newest active key. Among equally new ones, every instance selects the same. */
  #active(): Key | null {
    const now = this.#seconds();
    const active = [...this.#keys.values()].filter(({ activated, expires }) => activated <= now && now < expires);
    return active.toSorted((a, b) => b.activated - a.activated || (a.id < b.id ? -1 : 1))[0] ?? null;
  }

  #seconds(): number {
    return Math.floor(this.#options.now() / 1000);
  }

  #report(error: unknown): void {
    this.#options.report(toError(error));
  }
}
