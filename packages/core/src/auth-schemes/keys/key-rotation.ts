import { type KeyEncryption, KeyRingError } from './key-encryption.ts';
import { type Key, makeKey } from './key.ts';
import type { KeyStorage, StoredKey } from './key-storage.ts';

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

/** The keys that this instance knows of: read from storage, read again in time, and followed by new ones before they expire. */
export class KeyRotation {
  readonly #options: KeyRotationOptions;
  #keys: ReadonlyMap<string, Key> = new Map();
  #reported: ReadonlySet<string> = new Set();
  /** When the key in use is looked after again. */
  #nextCare = 0;
  #caring: Promise<void> | null = null;
  /** When a key that nobody knows has last sent us to storage. */
  #lastSearch = Number.NEGATIVE_INFINITY;
  #searching: Promise<void> | null = null;

  constructor(options: KeyRotationOptions) {
    this.#options = options;
  }

  /** @throws KeyRingError when one of the stored keys cannot be read; whatever the storage throws */
  async open(): Promise<void> {
    const { storage, encryption: atRest } = this.#options;
    await Promise.all((await storage.read()).map((stored) => atRest.decrypt(stored)));
    await this.#read();
    await this.#renew();
    this.#nextCare = this.#seconds() + this.#options.refreshEvery;
  }

  /**
   * The key to protect with.
   * @throws KeyRingError when there is none and storage takes no new one
   */
  async current(): Promise<Key> {
    const known = this.#usable();
    if (known !== null && this.#seconds() < this.#nextCare) return known;
    this.#caring ??= this.#care().finally(() => (this.#caring = null));
    await this.#caring;
    const key = this.#usable();
    if (key !== null) return key;
    throw new KeyRingError('The key ring has no key in use, and its storage could neither be read nor written.');
  }

  /**
   * A key by its id. For one that nobody knows storage is read again, since another instance may have made it; but only once in
   * `rereadAfter` seconds, because ids come from clients.
   */
  async find(id: string): Promise<Key | null> {
    const known = this.#keys.get(id);
    if (known !== undefined) return known;
    if (this.#searching === null && this.#seconds() - this.#lastSearch >= this.#options.rereadAfter) {
      this.#lastSearch = this.#seconds();
      this.#searching = this.#read()
        .catch((error: unknown) => this.#report(error))
        .finally(() => (this.#searching = null));
    }
    await this.#searching;
    return this.#keys.get(id) ?? null;
  }

  /** Storage that is away for a while does not matter as long as there is a key to use. */
  async #care(): Promise<void> {
    const { refreshEvery, rereadAfter } = this.#options;
    try {
      await this.#read();
      await this.#renew();
      this.#nextCare = this.#seconds() + refreshEvery;
    } catch (error) {
      this.#report(error);
      this.#nextCare = this.#seconds() + rereadAfter;
    }
  }

  async #read(): Promise<void> {
    const { storage } = this.#options;
    const read = await Promise.all((await storage.read()).map((stored) => this.#readOne(stored)));
    this.#keys = new Map(read.flatMap((key) => (key === null ? [] : [[key.id, key]])));
  }

  /** What has come into storage since the start and is no key for us must not end the sign-ins of others: it is told, once. */
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
   * Makes a new key early enough for all instances to learn of it before it is used. Two that do so at once make two keys; both
   * are read afterwards, and all instances use the same one of them.
   */
  async #renew(): Promise<void> {
    const { keyLifetime, renewBefore } = this.#options;
    const now = this.#seconds();
    const key = this.#usable();
    if (key === null) return this.#add(makeKey({ created: now, activated: now, expires: now + keyLifetime }));
    if (key.expires - now > renewBefore || this.#hasSuccessor(key)) return;
    await this.#add(makeKey({ created: now, activated: key.expires, expires: key.expires + keyLifetime }));
  }

  async #add(key: Key): Promise<void> {
    const { storage, encryption: atRest } = this.#options;
    await storage.write(key.id, await atRest.encrypt(key));
    await this.#read();
    if (this.#keys.has(key.id)) return;
    throw new KeyRingError(
      'A new key was written to the storage of the key ring but is not there when it is read again: do its read and write ' +
        'belong to the same place?',
    );
  }

  #hasSuccessor(key: Key): boolean {
    return [...this.#keys.values()].some((other) => other.activated <= key.expires && other.expires > key.expires);
  }

  /** The youngest that is active; where several are as young, the same one for every instance. */
  #usable(): Key | null {
    const now = this.#seconds();
    const active = [...this.#keys.values()].filter(({ activated, expires }) => activated <= now && now < expires);
    return active.toSorted((a, b) => b.activated - a.activated || (a.id < b.id ? -1 : 1))[0] ?? null;
  }

  #seconds(): number {
    return Math.floor(this.#options.now() / 1000);
  }

  #report(error: unknown): void {
    this.#options.report(error instanceof Error ? error : new Error(String(error)));
  }
}
