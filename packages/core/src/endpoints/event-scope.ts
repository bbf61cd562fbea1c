import type { EventScope } from './endpoint.ts';

/** Parses the scope of one event, such as `authorize user:ada, id:7`. Returns null for an invalid one. */
export function parseScopeText(text: string): EventScope | null {
  return parseEventScope(text.split(/[\s,]+/).filter((word) => word !== ''));
}

/** Parses an event scope, in any case. Returns null for an invalid one. */
export function parseEventScope(args: readonly string[]): EventScope | null {
  const [first = '', ...names] = args;
  const kind = first.toLowerCase();
  if (kind === 'authorize' || kind === 'authorized') return { kind: 'authorize', names };
  if (names.length > 0 || (kind !== 'self' && kind !== 'matching' && kind !== 'all')) return null;
  return { kind, names };
}
