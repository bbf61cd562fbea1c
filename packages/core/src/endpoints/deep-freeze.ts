/**
 * Freezes plain data recursively. Skips frozen values: catalog data is shared by many endpoints and is deeply frozen.
 *
 * Objects that are made by a spread (`{ ...base, name }`) share their hidden class only if `base` is frozen: V8 of Node 20 otherwise gives
 * each of them one of its own, which slows down every access.
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  // Plain data has no inherited members, and `in` needs no array of them.
  for (const key in value) deepFreeze(value[key]);
  return value;
}
