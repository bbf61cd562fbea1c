import { randomBytes } from 'node:crypto';

/** A key of the key ring. Times in seconds since 1970. */
export interface Key {
  /** 32 hexadecimal digits; public, because every token contains the id of its key. */
  readonly id: string;
  readonly created: number;
  /** When the key starts to encrypt. It encrypts until it expires, and decrypts as long as it is in the key ring. */
  readonly activated: number;
  readonly expires: number;
  /** 256 bits. */
  readonly secret: Uint8Array;
}

const version = 1;

export function makeKey(times: Pick<Key, 'created' | 'activated' | 'expires'>): Key {
  return Object.freeze({ id: randomBytes(16).toString('hex'), ...times, secret: new Uint8Array(randomBytes(32)) });
}

/** Returns the unencrypted text of the key. */
export function serializeKey({ id, created, activated, expires, secret }: Key): string {
  return JSON.stringify({
    version,
    id,
    created: toIsoText(created),
    activated: toIsoText(activated),
    expires: toIsoText(expires),
    secret: Buffer.from(secret).toString('base64url'),
  });
}

/** Returns null for a text that is not a key. */
export function parseKey(text: string): Key | null {
  const { id, created, activated, expires, secret, ...members } = membersOf(text);
  const times = [created, activated, expires].map(toSeconds);
  const bytes = typeof secret === 'string' ? new Uint8Array(Buffer.from(secret, 'base64url')) : null;
  if (members['version'] !== version || bytes?.length !== 32 || times.includes(Number.NaN)) return null;
  if (typeof id !== 'string' || !/^[0-9a-f]{32}$/.test(id)) return null;
  return Object.freeze({ id, created: times[0]!, activated: times[1]!, expires: times[2]!, secret: bytes });
}

function toIsoText(time: number): string {
  return new Date(time * 1000).toISOString();
}

function toSeconds(text: unknown): number {
  return typeof text === 'string' ? Math.floor(Date.parse(text) / 1000) : Number.NaN;
}

function membersOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
