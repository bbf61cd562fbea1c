import { type GatewayRequest } from '../../src/http/request.ts';
import { Problem } from '../../src/ports/ports.ts';

export interface RequestParts {
  readonly method?: string;
  readonly path?: string;
  /** Header names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly secure?: boolean;
  readonly remoteAddress?: string;
}

/** A request as an adapter creates it. */
export function requestOf(parts: RequestParts = {}): GatewayRequest {
  const { method = 'GET', path = '/', headers = {}, body = '', secure = false, remoteAddress = '192.0.2.1' } = parts;
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  return {
    id: 'r1',
    method,
    path,
    query: '',
    remoteAddress,
    secure,
    header: (name) => (Object.hasOwn(headers, name) ? headers[name] : undefined),
    headers: () => Object.entries(headers),
    body: (limit) => {
      if (bytes.length > limit) return Promise.reject(new Problem('body-too-large'));
      return Promise.resolve(bytes);
    },
    async *chunks() {
      yield await Promise.resolve(bytes);
    },
    onDisconnect: () => undefined,
  };
}

/** A clock that the test advances. */
export interface TestClock {
  readonly now: () => number;
  /** @param seconds the time to add */
  readonly pass: (seconds: number) => void;
}

export function clockAt(time = '2026-03-01T12:00:00Z'): TestClock {
  let now = Date.parse(time);
  return {
    now: () => now,
    pass: (seconds) => {
      now += seconds * 1000;
    },
  };
}
