/** Who gets an event. */
export interface EventScope {
  /**
   * - `self`: the stream of the caller that has the execution id of the call
   * - `matching`: who may call the endpoint
   * - `authorize`: who is signed in and, when names are given, has one of them: a role, `user:` and a name, `id:` and an id
   * - `all`: everybody
   */
  readonly kind: 'self' | 'matching' | 'authorize' | 'all';
  /** Of `authorize` alone. */
  readonly names: readonly string[];
}

/** The scope that these words say, in any case; null when they say none. */
export function readScope(words: readonly string[]): EventScope | null {
  const [first = '', ...names] = words;
  const kind = first.toLowerCase();
  if (kind === 'authorize' || kind === 'authorized') return { kind: 'authorize', names };
  if (names.length > 0 || (kind !== 'self' && kind !== 'matching' && kind !== 'all')) return null;
  return { kind, names };
}
