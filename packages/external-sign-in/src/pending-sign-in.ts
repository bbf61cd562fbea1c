import type { TokenEncryption } from '@pgway/core';
import type { GatewayRequest, HeaderList } from '@pgway/core';
import { randomBytes } from 'node:crypto';
import { parseCookie, stringifySetCookie } from 'cookie';

import type { AuthorizationChecks } from './provider.ts';

/** The user that an account is to be linked to. */
export interface LinkTarget {
  readonly userId: string;
  /** The session that has started the link; null for credentials without a session. */
  readonly session: string | null;
}

/** A sign-in between its start and the return from the provider. */
export interface PendingSignIn extends AuthorizationChecks {
  readonly provider: string;
  readonly returnPath: string;
  /** Null: a sign-in. */
  readonly link: LinkTarget | null;
}

const purpose = 'external sign-in';
const maxCookieLength = 4093;
/** Sign-ins that one browser can have open at a time, in several tabs. Starting another one forgets these. */
const maxPending = 4;
/** A client may send any number of cookies. */
const maxDropped = 32;
/** The characters of the state in the name of its cookie. */
const nameLength = 16;

/** Returns a random value of 256 bits for a URL. */
export function randomValue(): string {
  return randomBytes(32).toString('base64url');
}

/**
 * Pending sign-ins in encrypted cookies, so that a callback works on every instance, and in the browser of its start only. Over https
 * the prefix `__Host-` keeps other hosts of the domain from planting a cookie.
 */
export class PendingSignIns {
  readonly #encryption: TokenEncryption;
  readonly #lifetime: number;
  readonly #now: () => number;

  /**
   * @param lifetime seconds
   * @param now milliseconds since 1970
   */
  constructor(encryption: TokenEncryption, lifetime: number, now: () => number = Date.now) {
    this.#encryption = encryption;
    this.#lifetime = lifetime;
    this.#now = now;
  }

  /** Returns the headers that store the sign-in in the browser. */
  async store(pending: PendingSignIn, request: GatewayRequest): Promise<HeaderList> {
    const secure = pending.redirectUri.startsWith('https:');
    const expires = Math.floor(this.#now() / 1000) + this.#lifetime;
    const value = await this.#encryption.encrypt(purpose, pending, expires);
    const line = cookieLine({ name: cookieName(pending.state, secure), value, maxAge: this.#lifetime, secure });
    const others = Object.keys(cookiesOf(request)).filter((name) => name.startsWith(prefix(secure)));
    const dropped = others.length < maxPending ? [] : others.slice(0, maxDropped);
    return [line, ...dropped.map((name) => cookieLine({ name, value: '', maxAge: 0, secure }))].flatMap((text) => [
      'set-cookie',
      text,
    ]);
  }

  /** Returns the sign-in of this browser with this state; null for an unknown or expired one. */
  async read(state: string, request: GatewayRequest): Promise<PendingSignIn | null> {
    const cookies = cookiesOf(request);
    // The start decides which of the two: the redirect URI has its scheme.
    for (const secure of [true, false]) {
      const value = cookies[cookieName(state, secure)];
      if (value === undefined) continue;
      // At most two cookies, in order.
      const pending = (await this.#encryption.decrypt(purpose, value, maxCookieLength)) as PendingSignIn | null;
      const fits = pending?.state === state && pending.redirectUri.startsWith('https:') === secure;
      if (fits) return pending;
    }
    return null;
  }

  /** Returns the headers that remove the sign-in from the browser. */
  remove({ state, redirectUri }: PendingSignIn): HeaderList {
    const secure = redirectUri.startsWith('https:');
    return ['set-cookie', cookieLine({ name: cookieName(state, secure), value: '', maxAge: 0, secure })];
  }
}

function prefix(secure: boolean): string {
  return `${secure ? '__Host-' : ''}pgway-signin-`;
}

function cookieName(state: string, secure: boolean): string {
  return `${prefix(secure)}${state.slice(0, nameLength)}`;
}

interface CookieLine {
  readonly name: string;
  readonly value: string;
  /** Seconds; 0 removes the cookie. */
  readonly maxAge: number;
  readonly secure: boolean;
}

/** Lax: the callback is a navigation from the site of the provider. */
function cookieLine(cookie: CookieLine): string {
  const attributes = { path: '/', httpOnly: true, sameSite: 'lax' as const };
  return stringifySetCookie({ ...cookie, ...attributes }, { encode: (text) => text });
}

function cookiesOf(request: GatewayRequest): Readonly<Record<string, string | undefined>> {
  const header = request.header('cookie');
  return header === undefined ? {} : parseCookie(header);
}
