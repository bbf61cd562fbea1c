/** The consistency that a request asks for: `Consistency: strong`, `session` or `eventual`, and `Consistency-Token`. */
import type { Replicas, WalPosition } from '../postgres/port.ts';
import { formatWalPosition, parseWalPosition } from '../postgres/wal-position.ts';
import { Problem } from '../http/problem.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { SizeLimit } from '../response/response-writer.ts';

export interface Consistency {
  /**
   * - `strong`: reads run on the primary
   * - `session`: responses to writes have a token, and reads with it include these writes
   * - `eventual`: reads run on any replica within the lag bound
   */
  readonly level: (typeof levels)[number];
  /** The position that reads have to include; null: any. */
  readonly position: WalPosition | null;
}

const levels = ['strong', 'session', 'eventual'] as const;
const consistencyHeader = 'consistency';
const consistencyTokenHeader = 'consistency-token';

const eventual: Consistency = Object.freeze({ level: 'eventual', position: null });

/** @throws Problem `invalid-consistency` */
export function readConsistency(request: GatewayRequest): Consistency {
  const text = request.header(consistencyHeader);
  const token = request.header(consistencyTokenHeader);
  if (text === undefined && token === undefined) return eventual;
  const position = token === undefined ? null : parseWalPosition(token.trim());
  if (token !== undefined && position === null) {
    throw invalid('The header Consistency-Token must be the one of an earlier response, unchanged.');
  }
  const level = text === undefined ? 'session' : levels.find((name) => name === text.trim().toLowerCase());
  if (level === undefined) throw invalid(`The header Consistency must be ${levels.join(', ')}.`);
  return { level, position };
}

/** A response to a write up to this limit is held back until its transaction has ended, so that it can have a token. */
export const tokenHoldLimit: SizeLimit = Object.freeze({ rows: Number.POSITIVE_INFINITY, bytes: 1024 * 1024 });

/** Whether a successful response gets a token: that of a write on the main database, to a request that asks for `session`. */
export function getsToken(
  { volatility, connection }: Pick<Endpoint, 'volatility' | 'connection'>,
  consistency: Consistency | null,
): boolean {
  if (consistency === null || volatility !== 'volatile' || connection !== null) return false;
  return consistency.level === 'session' || consistency.position !== null;
}

/**
 * Adds the token of a write to its response: a position that includes the write. Without one, the primary did not tell it in time. A
 * stream has begun before its transaction has ended.
 */
export async function addToken(response: GatewayResponse, replicas: Replicas): Promise<GatewayResponse> {
  if (response.kind === 'stream') return response;
  const position = await replicas.readPosition();
  if (position === null) return response;
  return { ...response, headers: [...response.headers, consistencyTokenHeader, formatWalPosition(position)] };
}

function invalid(detail: string): Problem {
  return new Problem('invalid-consistency', { detail });
}
