/** Returns the JSON Pointer (RFC 6901) of the value at the keys and indexes. */
export function toPointer(...keys: readonly string[]): string {
  return keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
