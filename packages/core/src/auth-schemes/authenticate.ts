import type { Caller } from '../ports/ports.ts';
import type { Protector } from './keys/key-ring.ts';
import type { SessionStore } from './sessions.ts';
import { type Ticket, unpackTicket } from './token-payload.ts';
import { TokenCache } from './token-cache.ts';

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
