import type { Caller, Claim } from '../ports/ports.ts';
import type { Protector } from './keys/key-ring.ts';
import type { SessionStore } from './sessions.ts';
import { TokenCache } from './expiring-map.ts';

/** What stands in a cookie or token. Times in seconds since 1970. */
export interface Ticket {
  readonly session: string;
  readonly claims: readonly Claim[];
  /** When this cookie or token was made. */
  readonly made: number;
  /** When this cookie or token ends. */
  readonly expires: number;
  /** When the session ends, whatever is renewed until then. */
  readonly ends: number;
  /** The number of a refresh token among those of its session; 0 elsewhere. */
  readonly generation: number;
}

/** Short names: every byte is sent with every request. */
export function packTicket({ session, claims, made, expires, ends, generation }: Ticket): object {
  return { s: session, c: claims, m: made, x: expires, e: ends, ...(generation === 0 ? {} : { g: generation }) };
}

/** Null: not a ticket, or one of another version. */
export function unpackTicket(payload: object | null): Ticket | null {
  if (payload === null) return null;
  const {
    s: session,
    c,
    m: made,
    x: expires,
    e: ends,
    g: generation = 0,
  } = payload as Readonly<Record<string, unknown>>;
  const claims = claimsOf(c);
  if (typeof session !== 'string' || claims === null) return null;
  if (!isTime(made) || !isTime(expires) || !isTime(ends) || !isTime(generation)) return null;
  return Object.freeze({ session, claims, made, expires, ends, generation });
}

function claimsOf(value: unknown): readonly Claim[] | null {
  if (!Array.isArray(value) || !value.every(isClaim)) return null;
  return Object.freeze(value.map((claim): Claim => Object.freeze(claim)));
}

function isClaim(value: unknown): value is Claim {
  if (!Array.isArray(value) || !value.every((part) => typeof part === 'string')) return false;
  return value.length === 2 || (value.length === 3 && value[2] === 'json');
}

function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

export interface RecognizerOptions {
  readonly scheme: string;
  readonly sentByBrowser: boolean;
  readonly protector: Protector;
  readonly purpose: string;
  readonly sessions: SessionStore;
  /** The most tokens that are remembered. */
  readonly cacheSize: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** A token that counts: of ours, in its time, and its session alive. */
export interface Recognized {
  readonly caller: Caller;
  readonly ticket: Ticket;
}

/** Tells whose tokens they are. What it has read it remembers; whether the session is alive it asks each time. */
export class Recognizer {
  readonly #options: RecognizerOptions;
  readonly #cache: TokenCache<Recognized>;

  constructor(options: RecognizerOptions) {
    this.#options = options;
    this.#cache = new TokenCache(options.cacheSize, options.now);
  }

  /** @throws Problem when it cannot be found out whether the session is alive */
  recognize(token: string): Recognized | null | Promise<Recognized | null> {
    const known = this.#cache.get(token);
    return known === undefined ? this.#open(token) : this.#admit(token, known);
  }

  /** What the token says, also when its session is over. */
  async read(token: string): Promise<Ticket | null> {
    const { protector, purpose } = this.#options;
    return unpackTicket(await protector.unprotect(purpose, token));
  }

  forget(token: string): void {
    this.#cache.delete(token);
  }

  async #open(token: string): Promise<Recognized | null> {
    const ticket = await this.read(token);
    if (ticket === null) return null;
    const { scheme, sentByBrowser } = this.#options;
    const caller = Object.freeze({ scheme, claims: ticket.claims, session: ticket.session, sentByBrowser });
    const recognized = Object.freeze({ caller, ticket });
    this.#cache.set(token, recognized, ticket.expires);
    return this.#admit(token, recognized);
  }

  #admit(token: string, recognized: Recognized): Recognized | null | Promise<Recognized | null> {
    const alive = this.#options.sessions.alive(recognized.ticket.session);
    if (typeof alive !== 'boolean') return alive.then((answer) => this.#verdict(answer, token, recognized));
    return this.#verdict(alive, token, recognized);
  }

  #verdict(alive: boolean, token: string, recognized: Recognized): Recognized | null {
    if (alive) return recognized;
    this.#cache.delete(token);
    return null;
  }
}
