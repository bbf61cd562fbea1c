/** NUL, which `text` and `jsonb` refuse, and unpaired surrogates, which have no UTF-8 form. */
const unstorable = /[\0\p{Cs}]/u;

/** Whether PostgreSQL can store all texts in a JSON value as they are, the names of members included. */
export function isStorable(value: unknown): boolean {
  const open = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === 'string' && unstorable.test(next)) return false;
    if (typeof next === 'object' && next !== null) open.push(...Object.entries(next).flat());
  }
  return true;
}
