import type { Value } from '../../postgres/port.ts';
import type { EndpointParameter } from '../../endpoints/endpoint.ts';

/** One key for all unusual spellings of an integer or a uuid, so that none of them counts as a new user. */
const unusual = 'unusual spelling';

/**
 * One spelling of a value that names a user, for failed attempts to be counted by; null for NULL. PostgreSQL reads the same integer
 * from `7`, `007` and `0x7`, and the same uuid with and without hyphens.
 */
export function userOf(value: Value, { type }: Pick<EndpointParameter, 'type'>): string | null {
  if (typeof value !== 'string') return null;
  if (type.textual) return value;
  const text = value.trim();
  if (type.builtin !== 'uuid') return /^[+-]?\d{1,40}$/.test(text) ? String(BigInt(text.replace('+', ''))) : unusual;
  const digits = text.replaceAll(/[{}-]/g, '').toLowerCase();
  return /^[\da-f]{32}$/.test(digits) ? digits : unusual;
}
