import type { Claim } from '../ports/ports.ts';

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
