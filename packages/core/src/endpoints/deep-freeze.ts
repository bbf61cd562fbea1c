/**
 * Freezes plain data through and through. What is frozen already is taken to be frozen below as well: facts of the
 * catalog are shared by many endpoints and need no second walk.
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const member of Object.values(value)) deepFreeze(member);
  return value;
}
