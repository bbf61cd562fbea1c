const longest = 100;

/** A key of the client's as an answer repeats it: a refusal must not be as large as what it refuses. */
export function shownKey(key: string): string {
  if (key.length <= longest) return key;
  // Half of a surrogate pair is no character.
  return `${key.slice(0, longest).replace(/[\ud800-\udbff]$/, '')}…`;
}
